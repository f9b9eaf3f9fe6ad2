// SPDX-License-Identifier: Apache-2.0
// Takes the whole terminal and gives it back. The control sequences are those that all terminals of today
// know, so that no terminfo is needed; a static binary would not find it everywhere.
#include "podrun/output/full_screen.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "podrun/base/error.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {
namespace {

/// Alternate screen, marked pastes, no cursor, no wrapping: a terminal may measure a line wider than podrun.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[?7l";

constexpr char kCtrlL = '\f';  // "draw the screen again", as in other programs

termios modes_inside(termios modes) {
  modes.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR | IGNCR | ISTRIP);
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  modes.c_lflag |= static_cast<tcflag_t>(ISIG | NOFLSH);  // a signal discards no bytes of the screen
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  return modes;
}

constexpr const char* kInstead = " (podrun top --once prints the figures once)";

}  // namespace

FullScreen::FullScreen(const std::string& term) {
  if (!is_terminal(STDOUT_FILENO))
    throw UsageError(std::string("top: standard output is not a terminal") + kInstead);
  if (term.empty() || term == "dumb")
    throw UsageError("top: TERM=" + term + ": such a terminal cannot show a full screen" + kInstead);
  terminal_.reset(::open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!terminal_.is_open())
    throw UsageError(std::string("top: there is no terminal to read keys from") + kInstead);
}

FullScreen::~FullScreen() { leave(); }

ScreenSize FullScreen::size() const { return size_of(terminal_.get()); }

std::string FullScreen::enter() {
  if (guard_) return {};
  // Suspends in the background, so it comes before the guard. Unlike a flush it leaves keys that were typed.
  ::tcflow(terminal_.get(), TCOON);
  ::tcgetattr(terminal_.get(), &before_);
  const termios inside = modes_inside(before_);
  guard_.emplace(terminal_.get(), before_, inside, kLeave);
  ::tcsetattr(terminal_.get(), TCSANOW, &inside);
  painter_.forget();
  return std::string(kEnter);
}

std::string FullScreen::paint(const std::vector<std::string>& lines, ScreenSize size) {
  return guard_ ? painter_.paint(lines, size) : std::string();
}

std::string FullScreen::leave() {
  if (!guard_) return {};
  if (in_foreground(terminal_.get())) ::tcsetattr(terminal_.get(), TCSANOW, &before_);
  guard_.reset();
  return std::string(kLeave);
}

std::string FullScreen::read_keys() {
  std::string bytes;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(terminal_.get(), buffer.data(), buffer.size());
    if (count > 0) bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
    if (bytes.size() > buffer.size() * 16) break;  // the rest next time
  }
  if (bytes.find(kCtrlL) != std::string::npos) painter_.forget();
  return bytes;
}

}  // namespace podrun::output
