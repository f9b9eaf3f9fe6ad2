// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/restarts/restarted_run.hpp"
#include "podrun/run/outcome.hpp"
#include "podrun/session/session.hpp"

#include "cli/option_table.hpp"
#include "cli/options.hpp"
#include "cli/podrun_command.hpp"

namespace podrun::cli {

void add_notify_options(OptionTable& table, std::vector<std::string>& commands);

/// The end of a run, a task or a job, as --notify tells it.
struct Ended {
  int status = 0;
  bool is_interrupted = false;
  bool goes_on = false;  ///< a job that podrun waits for no longer
  std::vector<hosts::Host> hosts = {};
  std::vector<run::HostOutcome> outcomes = {};  ///< of these hosts; empty: not known
  std::string job = {};                         ///< or task; empty: a run
  std::string reason = {};  ///< why it is not started again (--restarts), as in --json; empty: no restarts
  std::size_t tries = 0;    ///< with --restarts
};
/// The event as one line of JSON, see docs/restarts.md. Pure.
std::string notification(const Ended& ended, output::WallTime time);

/// Notify of the end of a run or a task, and return its exit status.
int tell_end(const Context& context, const std::vector<hosts::Host>& hosts, const session::RunResult& result);
int tell_end(const Context& context, const restarts::RestartResult& result, const std::string& task = {});

/// Runs each command of --notify here, once, with the event on standard input. A failure is told, and changes
/// nothing.
void notify(const Context& context, const Ended& ended);

}  // namespace podrun::cli
