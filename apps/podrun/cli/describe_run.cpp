// SPDX-License-Identifier: Apache-2.0
// The text of --dry-run: the command, and what surrounds it.
#include <string>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/output/escape.hpp"

#include "cli/specs_from_options.hpp"

namespace podrun::cli {
namespace {

struct DescribeCommand {
  std::string operator()(const supervisor::Words& words) const {
    return "words: " + shell_quote(words.words);
  }
  std::string operator()(const supervisor::ShellText& shell) const { return "shell text: " + shell.text; }
  std::string operator()(const supervisor::Script& script) const {
    return fmt::format("script {} ({} bytes){}{}", script.name, script.content.size(),
                       script.arguments.empty() ? "" : ": ", shell_quote(script.arguments));
  }
};

}  // namespace

std::string describe_surroundings(const session::RunSpec& run) {
  std::string text = fmt::format("hosts ({}):\n", run.plan.hosts.size());
  for (const hosts::Host& host : run.plan.hosts)
    text += fmt::format("  {} {} ({})\n", host.worker, host.name, output::escape_controls(host.source));
  const supervisor::Supervision& supervision = run.plan.supervision;
  if (!supervision.directory.empty()) text += fmt::format("directory: {}\n", supervision.directory);
  for (const supervisor::Variable& variable : run.command.environment) {
    text +=
        fmt::format("environment: {}={}\n", variable.name,
                    variable.secret ? "(not shown)" : output::escape_controls(shell_quote(variable.value)));
  }
  for (const supervisor::Preparation& preparation : supervision.preparations) {
    if (preparation.stage == link::Stage::clean_up)
      text += "first: libtpu lock files and /tmp/tpu_logs are cleaned up\n";
  }
  if (supervision.privilege == link::Privilege::root) text += "as root, through sudo -n\n";
  if (run.command.shell == supervisor::ShellStart::login) text += "through a login shell\n";
  return text;
}

std::string describe_run(const session::RunSpec& run) {
  return describe_surroundings(run) + std::visit(DescribeCommand{}, run.command.what) + "\n";
}

}  // namespace podrun::cli
