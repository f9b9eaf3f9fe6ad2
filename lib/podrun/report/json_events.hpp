// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/remote/command.hpp"
#include "podrun/remote/protocol.hpp"
#include "podrun/run/outcome.hpp"

// The events of `--json` that are not lines of output, as docs/json.md has them: each one line, without its
// newline. Bytes that are no UTF-8 become U+FFFD. Pure.
namespace podrun::report {

/// The first event. The environment is left out, and values of leading assignments: they may be secret.
std::string start_event(output::WallTime time, const std::string& run_id, const remote::Command& command,
                        const std::vector<hosts::Host>& hosts);

/// The command ended, and the `holders` (only those that are known) have its output open. `waits`: the run
/// goes on for it.
std::string output_open_event(output::WallTime time, const hosts::Host& host, const remote::Holders& holders,
                              bool waits, std::chrono::milliseconds since_start);

/// Follows the host's last line. `since_start`: of the whole run.
std::string exit_event(output::WallTime time, const hosts::Host& host, const run::HostOutcome& outcome,
                       std::chrono::milliseconds since_start);

/// How all of it ended.
struct RunEnd {
  std::vector<run::HostOutcome> outcomes;
  int status = 0;
  std::optional<std::size_t> culprit;  ///< a host of the run, by its place
  std::optional<int> interrupted_by;
};

/// The last event.
std::string summary_event(output::WallTime time, const std::vector<hosts::Host>& hosts, const RunEnd& end,
                          std::chrono::milliseconds since_start);

}  // namespace podrun::report
