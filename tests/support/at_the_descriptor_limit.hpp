// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace podrun::test {

/// While it lives, this process can open no file more.
class AtTheDescriptorLimit {
 public:
  AtTheDescriptorLimit() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    last_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const rlimit limit{static_cast<rlim_t>(last_) + 1, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  AtTheDescriptorLimit(const AtTheDescriptorLimit&) = delete;
  AtTheDescriptorLimit& operator=(const AtTheDescriptorLimit&) = delete;
  ~AtTheDescriptorLimit() { lift(); }

  void lift() {
    if (last_ >= 0) ::close(std::exchange(last_, -1));
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  int last_ = -1;
};

}  // namespace podrun::test
