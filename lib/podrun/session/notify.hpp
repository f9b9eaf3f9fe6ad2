// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/run/outcome.hpp"
#include "podrun/session/session.hpp"

namespace podrun::session {

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
Ended ended(const std::vector<hosts::Host>& hosts, const RunResult& result);

/// The event as one line of JSON, see docs/restarts.md. Pure.
std::string notification(const Ended& ended, output::WallTime time);

/// Runs each of these commands (--notify) here, once, with the event on standard input. `say` gets a line for
/// each that fails.
void notify(const Ended& ended, const std::vector<std::string>& commands,
            const std::function<void(const std::string&)>& say);

}  // namespace podrun::session
