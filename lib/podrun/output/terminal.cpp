// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/terminal.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace podrun {
namespace {

/// The descriptor is inherited: others may have set it non-blocking, so a full pipe is waited for here.
void wait_until_writable(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  ::poll(&entry, 1, -1);
}

std::error_code write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      wait_until_writable(fd);
    } else if (errno != EINTR) {
      return {errno, std::system_category()};
    }
  }
  return {};
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

Terminal::Terminal(int out_fd, int err_fd)
    : streams_{{{out_fd, podrun::is_terminal(out_fd), {}}, {err_fd, podrun::is_terminal(err_fd), {}}}} {}

void Terminal::append(StreamId stream, std::initializer_list<std::string_view> parts) {
  if (error(stream)) return;
  if (segments_.empty() || segments_.back().stream != stream) segments_.push_back({stream, 0});
  const std::size_t before = buffer_.size();
  for (const std::string_view part : parts) buffer_ += part;
  segments_.back().size += buffer_.size() - before;
  if (buffer_.size() >= kBuffer) flush();
}

void Terminal::flush() {
  std::string_view rest = buffer_;
  for (const Segment& segment : segments_) {
    Stream& stream = streams_[index_of(segment.stream)];
    if (!stream.error) stream.error = write_all(stream.fd, rest.substr(0, segment.size));
    rest.remove_prefix(segment.size);
  }
  buffer_.clear();
  segments_.clear();
}

}  // namespace podrun
