// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {

/// Treatment of a line with `\r` in it, as progress bars make: show it unchanged, or only its last state.
enum class Bars { keep, fold };

/// Treatment of control bytes: shown unchanged (`--no-escape`), escaped except colours (the default on a
/// terminal, see terminal_line()), or all escaped (`--escape`).
enum class Controls { pass, only_colors, escape };

/// How the hosts' lines are shown to people. Arrays are indexed by the host's stream.
struct View {
  Label label = Label::worker;
  std::array<Color, kStreams> color = {Color::off, Color::off};  ///< for the labels
  std::array<Bars, kStreams> bars = {Bars::keep, Bars::keep};
  std::array<Controls, kStreams> controls = {Controls::pass, Controls::pass};
  bool quiet = false;       ///< podrun says nothing of its own about the lines
  bool timestamps = false;  ///< before each label: when podrun prints it, in UTC
  bool align = false;       ///< pads labels of changing width, up to a limit
  std::array<StreamId, kStreams> shown_on = {StreamId::out,
                                             StreamId::err};  ///< podrun's stream for the host's stream
};

/// The part of a line that stays visible on a terminal: the text after its last `\r` that has text.
std::string_view last_state(std::string_view line);

/// Shows lines as the view says, each with a newline. Reports once for each stream of a host that a line
/// comes in pieces.
class LinePrinter {
 public:
  LinePrinter(const std::vector<hosts::Host>& hosts, const View& view, Terminal& terminal);

  const View& view() const { return view_; }
  const std::vector<hosts::Host>& hosts() const { return hosts_; }

  /// `label` includes the separator before the text.
  void print(std::string_view label, const Line& line);
  /// Whether the place where a stream is shown still has a reader.
  bool is_read(StreamId stream) const { return !terminal_.error(view_.shown_on[index_of(stream)]); }

  /// Prints a line of podrun itself, after all that was printed before.
  void say(std::string_view line) {
    if (!view_.quiet) terminal_.say(line);
  }

 private:
  const View view_;
  const std::vector<hosts::Host> hosts_;
  Terminal& terminal_;
  const Borrowed terminal_lives_;
  std::vector<std::array<bool, kStreams>> pieces_said_;
};

}  // namespace podrun::output
