// SPDX-License-Identifier: Apache-2.0
#include "json_report.hpp"

#include <utility>

#include "podrun/run/json_events.hpp"

namespace podrun {
namespace {

WallTime wall_time() { return std::chrono::system_clock::now(); }

}  // namespace

void JsonReport::begin(Output& output) {
  if (std::exchange(begun_, true)) return;
  output.print(start_event(wall_time(), plan_.run.run_id, plan_.command, plan_.run.hosts));
}

void JsonReport::host_ended(Output& output, std::size_t host, const HostOutcome& outcome) {
  // What never ran may be tried again, when a question was answered.
  if (!may_have_run(outcome)) return;
  report(output, host, outcome);
}

void JsonReport::end(Output& output, const RunPolicy& policy, int status) {
  for (std::size_t host = 0; host < reported_.size(); ++host) {
    if (!reported_[host]) report(output, host, policy.outcomes()[host]);
  }
  const RunEnd end{policy.outcomes(), status, policy.culprit(), policy.interrupted_by()};
  output.print(summary_event(wall_time(), plan_.run.hosts, end, since_start()));
}

void JsonReport::report(Output& output, std::size_t host, const HostOutcome& outcome) {
  reported_[host] = true;
  output.print(exit_event(wall_time(), plan_.run.hosts[host], outcome, since_start()));
}

}  // namespace podrun
