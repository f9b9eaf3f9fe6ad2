// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/stream_id.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/color.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun {

/// A line with `\r` in it, as progress bars make them: kept as it is, or only its last state.
enum class Bars { keep, fold };

/// Control bytes of a line: passed as they are (`--no-escape`), escaped but for colours (the default on a
/// terminal, see terminal_line()), or all escaped (`--escape`).
enum class Controls { pass, only_colors, escape };

/// How people are shown the hosts' lines; where it says `of a stream`, that of the host is meant.
struct View {
  Label label = Label::rank;
  std::array<Color, kStreams> color = {Color::off, Color::off};                ///< of a stream's labels
  std::array<Bars, kStreams> bars = {Bars::keep, Bars::keep};                  ///< of a stream
  std::array<Controls, kStreams> controls = {Controls::pass, Controls::pass};  ///< of a stream
  bool align = false;  ///< labels of changing width, as far as that goes
  std::array<StreamId, kStreams> shown_on = {StreamId::out, StreamId::err};  ///< our stream for a stream
};

/// What of a line stays to be seen on a terminal: the part behind its last `\r` that has one.
std::string_view last_state(std::string_view line);

/// Shows lines as the view wants them, each with a newline; says once for each host's stream that a line
/// comes in pieces. The terminal must outlive it.
class LinePrinter {
 public:
  LinePrinter(const std::vector<Host>& hosts, const View& view, Terminal& terminal);

  const View& view() const { return view_; }
  const std::vector<Host>& hosts() const { return hosts_; }

  /// `label`: with what separates it from the text.
  void print(std::string_view label, const Line& line);
  /// Whether somebody still reads where a stream is shown.
  bool is_read(StreamId stream) const { return !terminal_.error(view_.shown_on[index_of(stream)]); }

  /// A line of podrun itself, behind all that was printed before.
  void say(std::string_view line);

 private:
  const View view_;
  const std::vector<Host> hosts_;
  Terminal& terminal_;
  std::vector<std::array<bool, kStreams>> pieces_said_;
};

}  // namespace podrun
