// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/hosts/probe.hpp"
#include "podrun/output/output.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/run/fan_out.hpp"

#include "cli/options.hpp"
#include "commands/typed_lines.hpp"

namespace podrun::commands {

/// How the user is told about the run while it goes on.
struct StatusStyle {
  output::StatusWay way = output::StatusWay::none;
  output::Charset charset = output::Charset::ascii;
  bool lists = false;  ///< at Enter
};

StatusStyle choose_status_style(const cli::Options& options, const hosts::Probe& probe);

/// Keeps the status line up to date, from half a second into the run, and prints the list, and who
/// has failed and why, when Enter is typed. Both must outlive it; while the style is none of it, it does
/// nothing at all.
class StatusDisplay {
 public:
  using Transfer = std::function<std::optional<run::TransferStatus>()>;

  StatusDisplay(const asio::any_io_executor& executor, const run::FanOut& fan_out, output::Output& output,
                const StatusStyle& style, Transfer transfer);

  /// Goes on, after hide().
  void show();
  /// As show(), for a run that begins only now.
  void begin_again();
  /// Nothing is shown and nothing read, until show().
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

  void arm();
  void refresh();
  void print_line(const run::Status& status, run::TimePoint now);
  void list(std::size_t lines_typed);
  run::Status status() const;

  const run::FanOut& fan_out_;
  output::Output& output_;
  const StatusStyle style_;
  const Transfer transfer_;
  run::TimePoint begin_ = Clock::now();
  bool shown_ = false;
  run::Rate rate_;
  output::StatusText printed_;  ///< by print_line(), without the parts that change with time
  std::optional<run::TimePoint> printed_at_;
  asio::steady_timer timer_;
  std::optional<TypedLines> typed_lines_;
};

}  // namespace podrun::commands
