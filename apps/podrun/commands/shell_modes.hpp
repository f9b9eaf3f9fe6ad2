// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "podrun/output/line_editor.hpp"
#include "podrun/shell/state_filter.hpp"

#include "commands/command_mode.hpp"

namespace podrun::commands {

/// What podrun learns from a run of `podrun shell`.
struct ShellRunEnd {
  bool has_run = false;  ///< the user has entered a line for it
  bool is_end_of_input = false;
  bool is_refused = false;  ///< a line for podrun, off a terminal
  int signal = 0;           ///< that podrun got at the prompt and ends with
  bool was_quit = false;    ///< SIGQUIT was passed on to the commands
  std::vector<run::HostOutcome> outcomes = {};
  std::optional<int> interrupted_by = std::nullopt;
  std::vector<bool> ready = {};  ///< hosts that were
  std::vector<std::optional<shell::KeptState>> states = {};
  std::vector<bool> in_doubt = {};  ///< hosts with more than one report of the state
};

/// The first run on each host, which only asks for its state.
class OpeningMode final : public CommandMode {
 public:
  OpeningMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe,
              output::Charset charset, const std::vector<std::string>& ids, ShellRunEnd& end)
      : CommandMode(plan, options, probe, charset), filter_(ids), end_(end) {}

  run::OutputFilter* output_filter() override { return &filter_; }
  bool leaves_typed_lines() const override { return true; }
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override;

 private:
  shell::StateFilter filter_;
  ShellRunEnd& end_;
};

/// What becomes of a line that was typed.
struct TypedLine {
  enum class Fate { runs, ends_run, nothing };
  Fate fate = Fate::nothing;
  std::vector<std::string> answer = {};  ///< lines to print before the next prompt
  bool is_refused = false;               ///< `answer` says why
  std::string text = {};                 ///< runs: sh text for all hosts, and for each
  std::vector<std::string> texts_of_hosts = {};
};

/// What a LineMode needs from the session.
struct Prompting {
  output::LineSource& source;
  bool is_terminal;
  std::string prompt;
  std::function<TypedLine(const std::string& line)> take;
};

/// A run that waits for a line while its hosts are ready, and then is an ordinary run.
class LineMode final : public CommandMode {
 public:
  LineMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe, output::Charset charset,
           const std::vector<std::string>& ids, Prompting prompting, ShellRunEnd& end);
  ~LineMode() override;

  run::OutputFilter* output_filter() override { return &filter_; }
  void host_ready(std::size_t host) override { end_.ready[host] = true; }
  void wait(output::Output& output, const WaitingRun& run) override;
  bool leaves_typed_lines() const override { return true; }
  bool has_terminal() const override { return asking_ && prompting_.is_terminal; }
  bool takes_signal(int signal) override;
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override;

 private:
  void ask();
  asio::awaitable<void> ask_after_output();
  void take(const std::optional<std::string>& line);
  void stop_asking();

  shell::StateFilter filter_;
  const Prompting prompting_;
  ShellRunEnd& end_;
  output::Output* output_ = nullptr;
  WaitingRun run_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool asking_ = false;
  unsigned question_ = 0;  ///< an answer to an earlier one may be on its way
  std::thread thread_;     ///< reads a line
};

}  // namespace podrun::commands
