// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace podrun::test {

/// A pipe as small as the kernel allows (one page), so that a reader who does not read is felt at once.
class Pipe {
 public:
  explicit Pipe(int flags = 0) {
    if (::pipe2(fds_.data(), flags | O_CLOEXEC) != 0) std::abort();
    ::fcntl(fds_[1], F_SETPIPE_SZ, 4096);
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_fd() const { return fds_[0]; }
  int write_fd() const { return fds_[1]; }
  void close_read() { close(fds_[0]); }
  void close_write() { close(fds_[1]); }

  /// The bytes of one read: empty at the end.
  std::string read_some(std::size_t most = 65536) {
    std::string bytes(most, '\0');
    const ssize_t count = ::read(fds_[0], bytes.data(), bytes.size());
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
  }
  std::string read_to_end(std::size_t at_once = 65536) {
    std::string all;
    for (std::string some; !(some = read_some(at_once)).empty();) all += some;
    return all;
  }

 private:
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  std::array<int, 2> fds_{};
};

}  // namespace podrun::test
