// SPDX-License-Identifier: Apache-2.0
#include "commands/json_report.hpp"

#include <utility>

#include "podrun/report/json_events.hpp"

namespace podrun::commands {
namespace {

output::WallTime wall_time() { return std::chrono::system_clock::now(); }

}  // namespace

void JsonReport::begin(output::Output& output) {
  if (std::exchange(begun_, true)) return;
  output.print(
      report::start_event(wall_time(), plan_.run.run_id, plan_.command, plan_.files, plan_.run.hosts));
}

void JsonReport::output_open(output::Output& output, std::size_t host, const remote::Holders& holders,
                             bool waits) {
  output.print(report::output_open_event(wall_time(), plan_.run.hosts[host], holders, waits, since_start()));
}

void JsonReport::sent(output::Output& output, std::size_t host, const report::FilesSent& sent) {
  output.print(report::sent_event(wall_time(), plan_.run.hosts[host], sent, since_start()));
}

void JsonReport::received(output::Output& output, std::size_t host, const report::FilesReceived& received) {
  output.print(report::received_event(wall_time(), plan_.run.hosts[host], received, since_start()));
}

void JsonReport::host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome) {
  // A host whose command never ran may be tried again after the user answers a question.
  if (!run::may_have_run(outcome)) return;
  report(output, host, outcome);
}

void JsonReport::end(output::Output& output, const run::RunPolicy& policy, int status) {
  for (std::size_t host = 0; host < reported_.size(); ++host) {
    if (!reported_[host]) report(output, host, policy.outcomes()[host]);
  }
  const report::RunEnd end{policy.outcomes(), status, policy.culprit(), policy.interrupted_by()};
  output.print(report::summary_event(wall_time(), plan_.run.hosts, end, since_start()));
}

void JsonReport::report(output::Output& output, std::size_t host, const run::HostOutcome& outcome) {
  reported_[host] = true;
  output.print(report::exit_event(wall_time(), plan_.run.hosts[host], outcome, since_start()));
}

}  // namespace podrun::commands
