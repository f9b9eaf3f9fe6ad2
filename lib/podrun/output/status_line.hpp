// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the status line says and the bytes that show it. Pure: is told the time and the width.
namespace podrun {

/// `--progress auto|always|never`.
enum class Progress { automatic, always, never };

/// How the status is shown: below the output, where it is painted over and over, or as lines now and then.
enum class StatusWay { none, painted, lines };

/// What has a say in it.
struct StatusSurroundings {
  std::string term;  ///< $TERM
  bool err_is_terminal = false;
  bool out_is_pipe = false;  ///< whose reader may well write to the terminal too: `| tee`, `| less`
};
StatusWay choose_status_way(Progress progress, const StatusSurroundings& surroundings);

/// What may be written besides ASCII, as the locale's variables say.
enum class Charset { ascii, utf8 };
/// Between the parts of a line of our own, 3 cells wide.
std::string_view separator(Charset charset);
Charset choose_charset(const std::optional<std::string>& lc_all, const std::optional<std::string>& lc_ctype,
                       const std::optional<std::string>& lang);

/// `shorter` stands for `text` where that does not fit, if there is one. Printable ASCII.
struct StatusPart {
  std::string text;
  std::string shorter = {};

  friend bool operator==(const StatusPart&, const StatusPart&) = default;
};
/// The most important first.
using StatusText = std::vector<StatusPart>;

/// A progress bar: the end of an unfinished line of a host, as it came.
struct Bar {
  std::size_t label;
  std::string state;
};

/// What a bar last showed of itself, without colours and surrounding blanks: of `tail`, the end of an
/// unfinished line. Empty: it is no bar.
std::string bar_state(std::string_view tail);

/// One line of at most so many cells: the parts that fit, then the beginning of the bar.
std::string compose_status(const StatusText& text, const std::optional<Bar>& bar, Charset charset,
                           std::size_t cells);

/// The line as it stands on the terminal. The cursor rests at its beginning, so that it can be erased after
/// a resize too, whether the terminal breaks its lines anew or not.
class StatusLine {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The least time between two paintings.
  static constexpr std::chrono::milliseconds kInterval{100};
  /// Erases what is painted: to the end of the screen, since it may have become two rows.
  static constexpr std::string_view kErase = "\r\x1b[J";

  explicit StatusLine(Charset charset = Charset::utf8) : charset_(charset) {}

  /// What it says from now on. Empty: nothing.
  void say(StatusText text, std::optional<Bar> bar);

  bool painted() const { return !painted_.empty(); }
  /// When paint() is to be called; max: not before say() or erase().
  TimePoint due() const { return due_; }
  /// Until when what is painted should stay: output that waits so long does not make it flicker.
  TimePoint stays_until() const { return painted() ? last_ + kInterval : TimePoint::min(); }

  // The bytes to write; none when there is nothing to do.
  /// `columns` of the terminal; 0: it cannot be painted now.
  std::string paint(TimePoint now, std::size_t columns);
  /// Before anything else is written there.
  std::string erase();
  /// The user has typed so many lines, and their echo has moved the cursor down.
  std::string erase_above(std::size_t lines);

 private:
  Charset charset_;
  StatusText text_;
  std::optional<Bar> bar_;
  std::string painted_;
  TimePoint last_ = TimePoint::min() + kInterval;  ///< it was painted
  TimePoint due_ = TimePoint::max();
};

}  // namespace podrun
