// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "podrun/session/command_mode.hpp"
#include "podrun/shell/command_reader.hpp"
#include "podrun/shell/line_state.hpp"

namespace podrun::shell {

/// The end of one run of `podrun shell`.
struct ShellRunEnd {
  bool has_run = false;  ///< the user has entered a line for it
  bool is_end_of_input = false;
  bool is_refused = false;  ///< a line for podrun, off a terminal
  bool is_wrong = false;    ///< the line has a syntax error, at least for a shell of this machine
  int signal = 0;           ///< received at the prompt; podrun ends with it
  bool was_quit = false;    ///< SIGQUIT was passed on to the commands
  std::vector<run::HostOutcome> outcomes = {};
  std::optional<int> interrupted_by = std::nullopt;
  std::vector<bool> ready = {};  ///< hosts that were
  std::vector<std::optional<KeptState>> states = {};
  std::vector<bool> in_doubt = {};  ///< hosts with more than one report of the state
};

/// The first run on each host, which only asks for its state.
class OpeningMode final : public session::CommandMode {
 public:
  /// `filter`: that of the run.
  OpeningMode(const session::RunSpec& run, const session::Session& session, const StateFilter& filter,
              ShellRunEnd& end)
      : CommandMode(run, session), filter_(filter), end_(end) {}

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override;

 private:
  const StateFilter& filter_;
  ShellRunEnd& end_;
};

/// The result of reading a line: run it, end the run, or only answer.
struct TypedLine {
  enum class Fate { runs, ends_run, nothing };
  Fate fate = Fate::nothing;
  std::vector<std::string> answer = {};  ///< lines to print before the next prompt
  bool is_refused = false;               ///< `answer` says why
  std::string text = {};                 ///< runs: sh text for all hosts, and for each
  std::vector<std::string> texts_of_hosts = {};
};

/// The parts of the session that a LineMode uses.
struct Prompting {
  CommandReader& reader;
  bool is_terminal;
  std::string prompt;
  std::function<TypedLine(const TypedCommand& command)> take;
};

/// A run that waits for a line while its hosts are ready, and then is an ordinary run.
class LineMode final : public session::CommandMode, private session::HeldRun {
 public:
  /// `filter`: that of the run.
  LineMode(const session::RunSpec& run, const session::Session& session, const StateFilter& filter,
           Prompting prompting, ShellRunEnd& end);
  ~LineMode() override;

  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override;
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override;
  session::HeldRun* held_run() override { return this; }

 private:
  void all_wait(output::Output& output, const Controls& controls) override;
  bool has_terminal() const override { return asking_ && prompting_.is_terminal; }
  bool takes_signal(int signal) override;

  void ask();
  asio::awaitable<void> ask_after_output();
  void take(const TypedCommand& command);
  void stop_asking();

  const StateFilter& filter_;
  const Prompting prompting_;
  ShellRunEnd& end_;
  output::Output* output_ = nullptr;
  supervisor::Command typed_{supervisor::ShellText{}};
  Controls run_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool asking_ = false;
  unsigned question_ = 0;  ///< an answer to an earlier one may be on its way
  std::thread thread_;     ///< reads a line
};

}  // namespace podrun::shell
