// SPDX-License-Identifier: Apache-2.0
// Reads the lines a user types on the terminal during a run, without taking them from the shell.
#include "commands/typed_lines.hpp"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "podrun/output/terminal.hpp"

namespace podrun::commands {
namespace {

/// How often it is seen whether the terminal is ours again: there is nothing to wait for.
constexpr std::chrono::seconds kLookAgain{1};

}  // namespace

TypedLines::TypedLines(const asio::any_io_executor& executor, OnLines on_lines)
    : terminal_(executor), later_(executor), on_lines_(std::move(on_lines)) {
  // Opened again: asio makes it non-blocking, which would affect every process that shares standard input.
  const int descriptor = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  std::error_code refused;
  if (descriptor >= 0) terminal_.assign(descriptor, refused);
  if (refused) ::close(descriptor);
}

void TypedLines::start() {
  ++changes_;
  if (terminal_.is_open()) listen();
}

void TypedLines::stop() {
  ++changes_;
  later_.cancel();
  std::error_code ignored;
  terminal_.cancel(ignored);
}

void TypedLines::listen() {
  const unsigned change = changes_;
  if (is_ours()) {
    terminal_.async_wait(asio::posix::stream_descriptor::wait_read,
                         [this, change](const std::error_code& error) {
                           if (error || change != changes_) return;
                           if (!is_ours() || read()) listen();
                         });
  } else {
    later_.expires_after(kLookAgain);
    later_.async_wait([this, change](const std::error_code& error) {
      if (!error && change == changes_) listen();
    });
  }
}

/// Others of our group may read keys from it: a pager.
bool TypedLines::is_ours() {
  const int descriptor = terminal_.native_handle();
  termios settings{};
  return output::in_foreground(descriptor) && ::tcgetattr(descriptor, &settings) == 0 &&
         (settings.c_lflag & static_cast<tcflag_t>(ICANON)) != 0;
}

/// False: nothing more is to come.
bool TypedLines::read() {
  std::array<char, 4096> buffer{};
  std::size_t lines = 0;
  ssize_t count = 0;
  while ((count = ::read(terminal_.native_handle(), buffer.data(), buffer.size())) > 0) {
    lines += static_cast<std::size_t>(std::count(buffer.begin(), buffer.begin() + count, '\n'));
  }
  const bool ended = count == 0 || (errno != EAGAIN && errno != EINTR);
  if (lines > 0) on_lines_(lines);
  return !ended;
}

}  // namespace podrun::commands
