// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/descriptors.hpp"

#include <sys/resource.h>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

// Three pipes and a pidfd each: for the command, for its standard input, for a look at what holds its output.
constexpr rlim_t kPerHost = 12;
constexpr rlim_t kOwn = 64;

}  // namespace

std::size_t raise_descriptor_limit(std::size_t hosts) {
  const rlim_t needed = kOwn + kPerHost * hosts;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return 0;
  if (limit.rlim_max < needed) {
    throw UsageError(fmt::format(
        "{} hosts need {} open files, the hard limit is {} (raise it with ulimit -Hn, or take fewer hosts)",
        hosts, needed, limit.rlim_max));
  }
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = needed;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

}  // namespace podrun
