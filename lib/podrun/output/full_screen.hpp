// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/descriptor.hpp"
#include "podrun/output/screen_guard.hpp"
#include "podrun/output/screen_painter.hpp"

namespace podrun::output {

/// The whole terminal (/dev/tty): the alternate screen, no echo, keys one by one. Ctrl-C, Ctrl-\ and Ctrl-Z
/// still send their signals. Whatever ends podrun, also SIGKILL and a crash, a process of its own gives the
/// terminal back. The caller writes the bytes, see Output::show(). SIGPIPE must be ignored.
class FullScreen {
 public:
  /// Leaves the screen, wherever the bytes before it broke off. The cursor comes to the last row first, for
  /// terminals without an alternate screen.
  static constexpr std::string_view kLeave =
      "\x1b[0m\x1b[999H\n\x1b[?2026l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

  /// Opens the terminal. `term`: $TERM. Throws UsageError, which names `podrun top --once`, if there is no
  /// terminal that can show a full screen at standard output.
  explicit FullScreen(const std::string& term);
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;
  /// Gives the modes back.
  ~FullScreen();

  /// To wait for keys on; non-blocking.
  int descriptor() const { return terminal_.get(); }
  /// 0x0 if the terminal does not say.
  ScreenSize size() const;

  /// Sets the modes, and discards what was typed before; returns the bytes to write. In the background it
  /// first suspends podrun, as the terminal does with all programs, until podrun has the terminal. Empty if
  /// it is entered.
  std::string enter();
  /// See ScreenPainter; the whole screen after enter() and after Ctrl-L. Empty unless it is entered.
  std::string paint(const std::vector<std::string>& lines, ScreenSize size);
  /// Gives the modes back; returns the bytes to write. Empty unless it is entered.
  std::string leave();
  /// The bytes that have been typed. Empty: none, or the terminal has gone, which leaves descriptor()
  /// readable forever: wait a while before the next wait for it.
  std::string read_keys();

 private:
  Descriptor terminal_;
  termios before_{};
  std::optional<ScreenGuard> guard_;  ///< while it is entered
  ScreenPainter painter_;
};

}  // namespace podrun::output
