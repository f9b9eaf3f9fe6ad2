// SPDX-License-Identifier: Apache-2.0
// The mode of every run that shows the output of a command: the events of --json, the final report.
#include "podrun/session/command_mode.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "podrun/hosts/remembered.hpp"
#include "podrun/output/make_sinks.hpp"
#include "podrun/report/hint.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/silence.hpp"
#include "podrun/session/final_report.hpp"

namespace podrun::session {
namespace {

constexpr std::chrono::seconds kAtOnce{5};  ///< also on a far host, or a busy one

output::WallTime wall_time() { return std::chrono::system_clock::now(); }

/// A mistyped command, which no host could start.
bool was_nowhere_startable(const run::RunPolicy& policy) {
  const std::vector<run::HostOutcome>& outcomes = policy.outcomes();
  const auto is_not_startable = [](const run::HostOutcome& outcome) {
    const auto* exited = std::get_if<link::Exited>(&outcome);
    return exited && exited->is_not_startable();
  };
  return std::ranges::any_of(outcomes, is_not_startable) &&
         std::ranges::all_of(outcomes, [&](const run::HostOutcome& outcome) {
           return is_not_startable(outcome) || !run::may_have_run(outcome);
         });
}

}  // namespace

void JsonReport::begin(output::Output& output) {
  if (std::exchange(begun_, true)) return;
  output.print(
      report::start_event(wall_time(), run_.plan.hosts,
                          {run_.plan.run_id, run_.command, run_.files, run_.number, run_.name_of_job}));
}

void JsonReport::started(output::Output& output, const run::RunPolicy& policy, std::size_t host) {
  if (run_.work != report::Work::command) return;
  running_.push_back(run_.plan.hosts[host].worker);
  const auto is_skipped = [](const run::HostOutcome& outcome) {
    return std::holds_alternative<run::Unreachable>(outcome);
  };
  const auto skipped = std::ranges::count_if(policy.outcomes(), is_skipped);
  if (running_.size() + static_cast<std::size_t>(skipped) == reported_.size())
    output.print(report::started_event(wall_time(), running_, since_start()));
}

void JsonReport::output_open(output::Output& output, const run::notice::OutputOpen& open) {
  const bool waits = open.fate == run::notice::OutputOpen::Fate::waits;
  output.print(
      report::output_open_event(wall_time(), run_.plan.hosts[open.host], open.holders, waits, since_start()));
}

void JsonReport::sent(output::Output& output, std::size_t host, const report::FilesSent& sent) {
  output.print(report::sent_event(wall_time(), run_.plan.hosts[host], sent, since_start()));
}

void JsonReport::received(output::Output& output, std::size_t host, const report::FilesReceived& received) {
  output.print(report::received_event(wall_time(), run_.plan.hosts[host], received, since_start()));
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
  const report::RunEnd end{policy.outcomes(), status, policy.culprit(), policy.interrupted_by(),
                           !run_.is_last_try || run_.is_last_try(policy, status)};
  output.print(report::summary_event(wall_time(), run_.plan.hosts, end, since_start()));
}

void JsonReport::report(output::Output& output, std::size_t host, const run::HostOutcome& outcome) {
  reported_[host] = true;
  output.print(report::exit_event(wall_time(), run_.plan.hosts[host], outcome, since_start()));
}

CommandMode::CommandMode(const RunSpec& run, const Session& session) : run_(run), session_(session) {
  if (run.view.json) json_.emplace(run);
}

std::vector<std::shared_ptr<output::Sink>> CommandMode::make_sinks(output::Terminal& terminal) {
  Sinks sinks = session::make_sinks(shown_hosts(run_), run_.view, session_.probe(), terminal);
  last_lines_ = std::move(sinks.last_lines);
  return std::move(sinks.all);
}

void CommandMode::begin(output::Output& output) {
  if (json_)
    json_->begin(output);
  else if (run_.work == report::Work::command)
    warning_ = report::terminal_warning(run_.command, run_.plan.hosts, called());
}

void CommandMode::notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) {
  if (const auto* started = std::get_if<run::notice::Started>(&notice)) {
    output.start();
    started_ = std::chrono::steady_clock::now();
    if (json_) json_->started(output, policy, started->host);
    if (auto warning = std::exchange(warning_, std::nullopt)) output.say(std::move(*warning));
  }
  if (std::holds_alternative<run::notice::Interrupted>(notice)) last_lines_->stop_clock();
  if (const auto* open = std::get_if<run::notice::OutputOpen>(&notice); open && json_)
    json_->output_open(output, *open);
  const auto* ended = std::get_if<run::notice::HostEnded>(&notice);
  if (!ended) return;
  const run::HostOutcome& outcome = policy.outcomes()[ended->host];
  host_ended(output, ended->host, outcome);
  // A host that is alone may be lost when its command runs but it is not known to be ready.
  if (run::may_have_run(outcome)) output.start();
  if (json_) json_->host_ended(output, ended->host, outcome);
}

void CommandMode::print_final_report(output::Output& output, const run::RunPolicy& policy, int status) {
  for (std::string& line : final_report(run_, policy, *last_lines_, charset(), called()))
    output.say(std::move(line));
  if (json_) json_->end(output, policy, status);
  const bool adds = run_.view.earlier == output::EarlierOutput::append;
  if (!run_.view.outdir.empty() && !adds && started_ &&
      std::chrono::steady_clock::now() - *started_ < kAtOnce && was_nowhere_startable(policy) &&
      !last_lines_->has_output())
    output::release_outdir(run_.view.outdir);
  if (run_.work == report::Work::command) remember_hosts(policy);
}

/// For `--workers failed` and `--workers silent`.
void CommandMode::remember_hosts(const run::RunPolicy& policy) const {
  const std::vector<hosts::Host>& hosts = run_.plan.hosts;
  std::vector<hosts::Host> failed;
  std::vector<std::size_t> ran;
  std::vector<std::optional<output::Sink::Clock::duration>> silences;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const run::HostOutcome& outcome = policy.outcomes()[host];
    if (run::is_failure(outcome) && !was_interrupted(outcome, policy)) failed.push_back(hosts[host]);
    if (!run::may_have_run(outcome)) continue;
    ran.push_back(host);
    silences.push_back(last_lines_->silence(host));
  }
  std::vector<hosts::Host> silent;
  for (const std::size_t place : report::silent_ones(silences)) silent.push_back(hosts[ran[place]]);
  hosts::remember(hosts::Remembered::failed, failed, session_.probe());
  hosts::remember(hosts::Remembered::silent, silent, session_.probe());
}

}  // namespace podrun::session
