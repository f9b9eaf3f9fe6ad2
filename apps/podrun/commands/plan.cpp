// SPDX-License-Identifier: Apache-2.0
// Turns options into a plan: hosts, the command as it travels, SSH settings and limits. Nothing is started
// here, and every error of usage is found here.
#include "commands/plan.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/remote/environment.hpp"
#include "podrun/remote/supervised.hpp"

namespace podrun::commands {
namespace {

std::string read_file(const hosts::Probe& probe, const std::string& option, const std::string& path) {
  std::optional<std::string> content = probe.read_file(path);
  if (!content)
    throw UsageError(fmt::format("{}: there is no file \"{}\" (expected one on this machine)", option, path));
  return std::move(*content);
}

/// `-e NAME=VALUE`, or `-e NAME` for the value that it has here. `where`: for errors.
remote::Variable parse_variable(const std::string& text, const std::string& where,
                                const hosts::Probe& probe) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (!remote::is_variable_name(name)) {
    throw UsageError(
        fmt::format("{}: bad name in \"{}\" (expected NAME or NAME=VALUE; letters, digits and _)", where,
                    text.substr(0, equals == std::string::npos ? equals : equals + 1)));
  }
  if (equals != std::string::npos) return {name, text.substr(equals + 1), false};
  std::optional<std::string> value = probe.env(name);
  if (!value) {
    throw UsageError(
        fmt::format("{}: \"{}\" is not set here (set it, or write {}=VALUE)", where, name, name));
  }
  return {name, std::move(*value), true};
}

void append(std::vector<remote::Variable>& environment, std::vector<remote::Variable> more) {
  environment.insert(environment.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
}

std::vector<remote::Variable> secret(std::vector<remote::Variable> variables) {
  for (remote::Variable& variable : variables) variable.secret = true;
  return variables;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

remote::Script make_script(const cli::Options& options, const hosts::Probe& probe) {
  if (*options.script == "-") {
    return {"script", probe.read_standard_input(), options.words.value_or(std::vector<std::string>())};
  }
  const std::string name = std::filesystem::path(*options.script).filename();
  return {name, read_file(probe, "--script", *options.script),
          options.words.value_or(std::vector<std::string>())};
}

remote::ShellText read_text(const hosts::Probe& probe) {
  remote::ShellText shell{probe.read_standard_input()};
  if (is_blank(shell.text)) {
    throw UsageError(
        "no command: there is no \"--\", and the text on standard input is blank (podrun -- COMMAND)");
  }
  if (shell.text.find('\0') != std::string::npos)
    throw UsageError("the text on standard input has a NUL byte (expected shell text)");
  return shell;
}

/// A command but for what runs.
remote::Command make_surroundings(const cli::Options& options, const hosts::Probe& probe) {
  remote::Command command;
  command.environment = make_environment(options, probe);
  command.shell = options.login ? remote::ShellStart::login : remote::ShellStart::plain;
  return command;
}

remote::Command make_command(const cli::Options& options, const hosts::Probe& probe) {
  remote::Command command = make_surroundings(options, probe);
  if (options.script) {
    command.what = make_script(options, probe);
  } else if (!options.words) {
    command.what = read_text(probe);
  } else {
    std::vector<std::string> words = *options.words;
    if (words.empty()) throw UsageError("no command after \"--\" (podrun -- COMMAND)");
    append(command.environment, remote::take_assignments(words));
    if (words.size() == 1 && is_blank(words.front())) {
      throw UsageError("the command after \"--\" is blank (podrun -- COMMAND)");
    }
    if (words.size() == 1) {
      command.what = remote::ShellText{words.front()};
    } else {
      command.what = remote::Words{std::move(words)};
    }
  }
  return command;
}

/// The name of this directory that its user goes by ($PWD, if it is still right): links and mounts are named
/// alike on hosts that share it.
std::string current_directory(const hosts::Probe& probe) {
  const std::filesystem::path actual = podrun::current_directory("--cwd");
  const std::string logical = probe.env("PWD").value_or("");
  std::error_code error;
  if (logical.starts_with('/') && std::filesystem::equivalent(logical, actual, error) && !error)
    return logical;
  return actual;
}

remote::Supervision make_supervision(const cli::Options& options, const hosts::Probe& probe) {
  remote::Supervision supervision;
  supervision.orphan_timeout = options.orphan_timeout;
  if (options.same_directory) supervision.directory = current_directory(probe);
  if (options.directory) supervision.directory = *options.directory;
  if (options.feed_input) supervision.input = remote::StandardInput::fed;
  if (options.clean_up) supervision.preparations.push_back(remote::clean_up());
  if (options.sudo) supervision.privilege = link::Privilege::root;
  return supervision;
}

void check_standard_input(const cli::Options& options) {
  std::vector<std::string> consumers;
  if (options.feed_input) consumers.emplace_back("--stdin");
  if (hosts::reads_standard_input(options.hosts)) consumers.emplace_back("-H -");
  if (options.script == "-") consumers.emplace_back("--script -");
  if (!options.words && !options.script) consumers.emplace_back("the command (there is no \"--\")");
  if (options.feed_input && std::filesystem::is_directory("/dev/stdin")) {
    throw UsageError("--stdin: standard input is a directory (expected a file or a pipe)");
  }
  if (consumers.size() > 1) {
    throw UsageError(
        fmt::format("standard input cannot be read twice: by {} and by {} (give one of them another way)",
                    consumers[0], consumers[1]));
  }
}

struct DescribeCommand {
  std::string operator()(const remote::Words& words) const { return "words: " + shell_quote(words.words); }
  std::string operator()(const remote::ShellText& shell) const { return "shell text: " + shell.text; }
  std::string operator()(const remote::Script& script) const {
    return fmt::format("script {} ({} bytes){}{}", script.name, script.content.size(),
                       script.arguments.empty() ? "" : ": ", shell_quote(script.arguments));
  }
};

Plan make_plan_for(remote::Command command, const cli::Options& options, const hosts::Probe& probe) {
  Plan plan;
  plan.command = std::move(command);
  hosts::Discovery found = hosts::discover(options.hosts, probe);
  plan.run.hosts = std::move(found.hosts);
  plan.notes = std::move(found.notes);
  plan.run.command = remote::build_command(plan.command);
  plan.run.supervision = make_supervision(options, probe);
  plan.run.limits = options.limits;
  plan.reach = reach::plan_reach(options.ssh, probe);
  plan.reach.via = options.via;
  reach::find_settings(plan.reach, plan.run.hosts, plan.run.limits);
  if (options.connect_timeout_given) plan.run.limits.connect_timeout = options.limits.connect_timeout;
  if (options.retries_given) plan.run.limits.retries = options.limits.retries;
  plan.run.run_id = remote::random_id();
  plan.run.verbosity = options.verbosity;
  return plan;
}

}  // namespace

std::vector<remote::Variable> make_environment(const cli::Options& options, const hosts::Probe& probe) {
  std::vector<remote::Variable> environment;
  const auto add_file = [&](const std::string& path, const std::string& where) {
    append(environment, secret(remote::parse_env_file(read_file(probe, where, path), path)));
  };
  for (const cli::ConfiguredEnvironment& each : options.configured_environment) {
    if (each.is_file) {
      add_file(each.text, each.where);
    } else {
      append(environment, secret({parse_variable(each.text, each.where, probe)}));
    }
  }
  for (const std::string& path : options.environment_files) add_file(path, "--env-file");
  for (const std::string& text : options.environment)
    environment.push_back(parse_variable(text, "--env", probe));
  return environment;
}

Plan make_plan(const cli::Options& options, const hosts::Probe& probe) {
  check_standard_input(options);
  Plan plan = make_plan_for(make_command(options, probe), options, probe);
  plan.home = probe.env("HOME").value_or("");
  plan.input_unsent = !options.feed_input && options.script != "-" && (options.words || options.script) &&
                      !hosts::reads_standard_input(options.hosts);
  return plan;
}

Plan make_plan_in_surroundings(const cli::Options& options, const hosts::Probe& probe,
                               remote::Command command) {
  remote::Command there = make_surroundings(options, probe);
  there.what = std::move(command.what);
  append(there.environment, std::move(command.environment));
  return make_plan_for(std::move(there), options, probe);
}

Plan make_plan(const cli::Options& options, const hosts::Probe& probe, remote::Command command) {
  return make_plan_for(std::move(command), options, probe);
}

Plan with_command(Plan plan, remote::Command command) {
  plan.command = std::move(command);
  plan.run.command = remote::build_command(plan.command);
  plan.run.run_id = remote::random_id();
  return plan;
}

Plan with_hosts(Plan plan, const std::vector<std::size_t>& indexes) {
  const std::vector<hosts::Host> all = std::exchange(plan.run.hosts, {});
  for (const std::size_t i : indexes) plan.run.hosts.push_back(all[i]);
  plan.run.run_id = remote::random_id();
  plan.notes.clear();
  return plan;
}

void run_where_reachable(Plan& plan) {
  plan.run.limits.serial = 0;
  plan.run.limits.on_failure = run::OnFailure::go_on;
  plan.run.limits.on_unreachable = run::OnUnreachable::skip;
  plan.run.limits.may_wait_for_each_other = false;
  plan.run.supervision.preparations.clear();
}

Plan make_plan(const cli::Options& options, const hosts::Probe& probe, remote::RemoteCommand command) {
  Plan plan = make_plan_for(remote::Command{.what = remote::Words{}}, options, probe);
  plan.run.command = std::move(command);
  return plan;
}

std::string describe_surroundings(const Plan& plan) {
  std::string text = fmt::format("hosts ({}):\n", plan.run.hosts.size());
  for (const hosts::Host& host : plan.run.hosts)
    text += fmt::format("  {} {} ({})\n", host.worker, host.name, output::escape_controls(host.source));
  const remote::Supervision& supervision = plan.run.supervision;
  if (!supervision.directory.empty()) text += fmt::format("directory: {}\n", supervision.directory);
  for (const remote::Variable& variable : plan.command.environment) {
    text +=
        fmt::format("environment: {}={}\n", variable.name,
                    variable.secret ? "(not shown)" : output::escape_controls(shell_quote(variable.value)));
  }
  for (const remote::Preparation& preparation : supervision.preparations) {
    if (preparation.stage == link::Stage::clean_up)
      text += "first: libtpu lock files and /tmp/tpu_logs are cleaned up\n";
  }
  if (supervision.privilege == link::Privilege::root) text += "as root, through sudo -n\n";
  if (plan.command.shell == remote::ShellStart::login) text += "through a login shell\n";
  return text;
}

std::string describe_plan(const Plan& plan) {
  return describe_surroundings(plan) + std::visit(DescribeCommand{}, plan.command.what) + "\n";
}

}  // namespace podrun::commands
