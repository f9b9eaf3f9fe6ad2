// SPDX-License-Identifier: Apache-2.0
#include "commands/command_mode.hpp"

#include <string>
#include <utility>

#include "commands/final_report.hpp"
#include "commands/sinks.hpp"

namespace podrun::commands {

CommandMode::CommandMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe,
                         output::Charset charset)
    : plan_(plan), options_(options), probe_(probe), charset_(charset) {
  if (options.json) json_.emplace(plan);
}

std::vector<std::shared_ptr<output::Sink>> CommandMode::make_sinks(output::Terminal& terminal) {
  Sinks sinks = podrun::commands::make_sinks(plan_.run.hosts, options_, probe_, terminal);
  last_lines_ = std::move(sinks.last_lines);
  return std::move(sinks.all);
}

void CommandMode::begin(output::Output& output) {
  if (json_) json_->begin(output);
}

void CommandMode::host_started(output::Output& output, std::size_t /*host*/) { output.start(); }

void CommandMode::output_open(output::Output& output, std::size_t host, const remote::Holders& holders,
                              bool waits) {
  if (json_) json_->output_open(output, host, holders, waits);
}

void CommandMode::host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome) {
  // A host that is alone may be lost when its command runs but it is not known to be ready.
  if (run::may_have_run(outcome)) output.start();
  if (json_) json_->host_ended(output, host, outcome);
}

void CommandMode::print_final_report(output::Output& output, const run::RunPolicy& policy, int status) {
  for (std::string& line : final_report(plan_, policy, options_, *last_lines_, charset_))
    output.say(std::move(line));
  if (json_) json_->end(output, policy, status);
}

int CommandMode::status(const run::RunPolicy& policy) const {
  return run::exit_status(policy.outcomes(), policy.interrupted_by());
}

}  // namespace podrun::commands
