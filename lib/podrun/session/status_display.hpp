// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/expect.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/output.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/report/status_line_words.hpp"
#include "podrun/run/fan_out.hpp"

namespace podrun::session {

/// How the user is told about a run while it goes on.
struct StatusStyle {
  output::StatusWay way = output::StatusWay::none;
  output::Charset charset = output::Charset::ascii;
  bool lists = false;     ///< at Enter
  bool has_rate = true;   ///< how much the hosts print
  bool has_list = false;  ///< what Enter prints goes with the line, for Terminal::keep_status()
};

/// `input_is_used`: standard input is for something else than Enter.
StatusStyle choose_status_style(output::Progress progress, bool input_is_used, const hosts::Probe& probe);

/// Reads each Enter that the user types on the controlling terminal, while podrun is in its foreground and no
/// program has changed the terminal's mode. Text is left for the shell that waits for podrun; after that, and
/// after Ctrl-D, it reads nothing more.
class TypedLines {
 public:
  enum class Typed { enter, text };
  /// Called for each Enter, and for the first line of text.
  using OnLine = std::function<void(Typed)>;

  TypedLines(const asio::any_io_executor& executor, OnLine on_line);

  void start();
  void stop();

 private:
  void listen();
  bool is_ours();
  bool read();

  asio::posix::stream_descriptor terminal_;
  asio::steady_timer later_;
  OnLine on_line_;
  unsigned changes_ = 0;  ///< by start() and stop(); a handler from before the last one may be on its way
};

/// Keeps the status line up to date, from half a second into the run, and prints the list of hosts and their
/// failures when Enter is typed. Without a style it does nothing. The arguments must outlive it. `own_words`:
/// may be empty.
class StatusDisplay {
 public:
  /// Adds to the status what the run does not know.
  using Complete = std::function<void(run::Status&)>;

  StatusDisplay(const asio::any_io_executor& executor, const run::FanOut& fan_out, output::Output& output,
                const StatusStyle& style, Complete complete, report::OwnWordsFor own_words);

  /// The status of the run that is displayed now, completed.
  run::Status status() const;
  /// Goes on, after hide().
  void show();
  /// Like show(), for a run that begins only now.
  void begin_again();
  /// Nothing is shown and nothing read, until show().
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

  void arm();
  void refresh();
  void print_line(const run::Status& status, run::TimePoint now);
  void list(TypedLines::Typed typed);
  std::vector<std::string> lines_of_list(const run::Status& status, run::TimePoint now) const;
  std::optional<report::OwnWords> own_words(const run::Status& status, run::TimePoint now) const;
  output::StatusText text(const run::Status& status, run::TimePoint now) const;

  const run::FanOut& fan_out_;
  const Borrowed fan_out_lives_;
  output::Output& output_;
  const StatusStyle style_;
  const Complete complete_;
  const report::OwnWordsFor own_words_;
  run::TimePoint begin_ = Clock::now();
  bool shown_ = false;
  run::Rate rate_;
  output::StatusText printed_;  ///< by print_line(), without the parts that change with time
  std::optional<run::TimePoint> printed_at_;
  asio::steady_timer timer_;
  std::optional<TypedLines> typed_lines_;
};

}  // namespace podrun::session
