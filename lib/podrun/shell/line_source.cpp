// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/line_source.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace podrun::shell {

LineSource::LineSource() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

LineSource::~LineSource() = default;

void LineSource::wake(Woken reason) {
  if (reason_ != Woken::stopped) reason_ = reason;
  ::eventfd_write(event_.get(), 1);
}

LineSource::Woken LineSource::wait_for_input(int descriptor) {
  std::array<pollfd, 2> waited = {pollfd{event_.get(), POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
  for (;;) {
    if (::poll(waited.data(), waited.size(), -1) < 0) continue;  // EINTR
    eventfd_t count = 0;
    if (waited[0].revents == 0 || ::eventfd_read(event_.get(), &count) != 0) return Woken::readable;
    // With two calls at the same moment, the first wait may have taken both.
    const Woken reason = reason_.exchange(Woken::readable);
    if (reason != Woken::readable) return reason;
  }
}

ReadLine PlainLines::read(const std::string& /*prompt*/) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const std::size_t newline = text_.find('\n');
    if (newline != std::string::npos) {
      std::string line = text_.substr(0, newline);
      text_.erase(0, newline + 1);
      return {ReadLine::Kind::text, std::move(line)};
    }
    if (ended_) {
      if (text_.empty()) return {};
      return {ReadLine::Kind::text, std::exchange(text_, {})};
    }
    const Woken woken = wait_for_input(descriptor_);
    if (woken == Woken::stopped) return {};
    if (woken == Woken::interrupted) continue;
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count > 0) text_.append(buffer.data(), static_cast<std::size_t>(count));
    ended_ = count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  }
}

}  // namespace podrun::shell
