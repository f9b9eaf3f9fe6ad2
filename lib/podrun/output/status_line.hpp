// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The content of the status line and the bytes that paint it. Pure: the caller gives time and width.
namespace podrun::output {

/// `--progress auto|always|never`.
enum class Progress { automatic, always, never };

/// How the status is shown: repainted below the output, or as an occasional line.
enum class StatusWay { none, painted, lines };

/// The surroundings that decide about the StatusWay.
struct StatusSurroundings {
  std::string term;  ///< $TERM
  bool err_is_terminal = false;
  bool out_is_pipe = false;  ///< its reader may write to the terminal too: `| tee`, `| less`
};
StatusWay choose_status_way(Progress progress, const StatusSurroundings& surroundings);

/// The characters that may be written besides ASCII, by the locale's variables.
enum class Charset { ascii, utf8 };
/// Separates the parts of a line of podrun itself; 3 cells wide.
std::string_view separator(Charset charset);
Charset choose_charset(const std::optional<std::string>& lc_all, const std::optional<std::string>& lc_ctype,
                       const std::optional<std::string>& lang);

/// `shorter` replaces `text` if that does not fit; may be empty. Printable ASCII.
struct StatusPart {
  std::string text;
  std::string shorter = {};

  friend bool operator==(const StatusPart&, const StatusPart&) = default;
};
/// Most important part first.
using StatusText = std::vector<StatusPart>;

/// A progress bar: the end of a host's unfinished line, unchanged.
struct Bar {
  std::size_t worker;
  std::string state;
};

/// The last state of a bar, without colours and surrounding blanks, from `tail`, the end of an unfinished
/// line. Empty if it is not a bar.
std::string bar_state(std::string_view tail);

/// One line of at most `cells` cells: the parts that fit, then the beginning of the bar.
std::string compose_status(const StatusText& text, const std::optional<Bar>& bar, Charset charset,
                           std::size_t cells);

/// The status line on the terminal. The cursor rests at its beginning, so that it can be erased after a
/// resize, whether or not the terminal rewraps its lines.
class StatusLine {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The shortest time between two paintings.
  static constexpr std::chrono::milliseconds kInterval{100};
  /// Erases the painted line, up to the end of the screen because it may have become two rows.
  static constexpr std::string_view kErase = "\r\x1b[J";

  explicit StatusLine(Charset charset = Charset::utf8) : charset_(charset) {}

  /// Sets its content. Empty: nothing.
  void say(StatusText text, std::optional<Bar> bar);

  bool painted() const { return !painted_.empty(); }
  /// When to call paint(); max: not before say() or erase().
  TimePoint due() const { return due_; }
  /// The time until which the painted line should stay, so that it does not flicker: output waits.
  TimePoint stays_until() const { return painted() ? last_ + kInterval : TimePoint::min(); }

  // The next functions return the bytes to write; empty if there is nothing to do.
  /// `columns` of the terminal; 0: it cannot be painted now.
  std::string paint(TimePoint now, std::size_t columns);
  /// Call before anything else is written there.
  std::string erase();
  /// The user has typed this many lines, and their echo has moved the cursor down.
  std::string erase_above(std::size_t lines);

 private:
  Charset charset_;
  StatusText text_;
  std::optional<Bar> bar_;
  std::string painted_;
  TimePoint last_ = TimePoint::min() + kInterval;  ///< when it was painted
  TimePoint due_ = TimePoint::max();
};

}  // namespace podrun::output
