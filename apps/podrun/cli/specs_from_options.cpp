// SPDX-License-Identifier: Apache-2.0
// Turns options into specs: hosts, the command, SSH settings and limits. Nothing is started here, and every
// error of usage is found here.
#include "cli/specs_from_options.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/supervisor/environment.hpp"
#include "podrun/supervisor/protocol.hpp"

#include "cli/books.hpp"
#include "cli/podrun_inside.hpp"

namespace podrun::cli {
namespace {

std::string read_file(const hosts::Probe& probe, const std::string& option, const std::string& path) {
  std::optional<std::string> content = probe.read_file(path);
  if (!content)
    throw UsageError(fmt::format("{}: there is no file \"{}\" (expected one on this machine)", option, path));
  return std::move(*content);
}

/// `-e NAME=VALUE`, or `-e NAME` for the value that it has here. `where`: for errors.
supervisor::Variable parse_variable(const std::string& text, const std::string& where,
                                    const hosts::Probe& probe) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (!supervisor::is_variable_name(name)) {
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

void append(std::vector<supervisor::Variable>& environment, std::vector<supervisor::Variable> more) {
  environment.insert(environment.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
}

/// `-e PODRUN_HOSTLIST`: no variable of this shell.
std::vector<std::string> asked_lists(const Options& options) {
  std::vector<std::string> lists;
  std::ranges::copy_if(options.environment, std::back_inserter(lists), supervisor::is_host_list);
  for (const ConfiguredEnvironment& each : options.configured_environment) {
    if (!each.is_file && supervisor::is_host_list(each.text)) lists.push_back(each.text);
  }
  return lists;
}

std::vector<supervisor::Variable> secret(std::vector<supervisor::Variable> variables) {
  for (supervisor::Variable& variable : variables) variable.secret = true;
  return variables;
}

supervisor::Script make_script(const Options& options, const hosts::Probe& probe) {
  if (*options.script == "-") {
    return {"script", probe.read_standard_input(), options.words.value_or(std::vector<std::string>())};
  }
  if (options.script->starts_with('@')) {
    const Book& example = example_named(options.script->substr(1), "--script");
    if (!is_script(example))
      throw UsageError(
          fmt::format("--script: @{0} is no script (podrun example {0} prints it)", example.name));
    return {std::string(example.file), std::string(example.text),
            options.words.value_or(std::vector<std::string>())};
  }
  const std::string name = std::filesystem::path(*options.script).filename();
  return {name, read_file(probe, "--script", *options.script),
          options.words.value_or(std::vector<std::string>())};
}

supervisor::ShellText read_text(const hosts::Probe& probe) {
  supervisor::ShellText shell{probe.read_standard_input()};
  if (trim_space(shell.text).empty()) {
    throw UsageError(
        "no command: there is no \"--\", and the text on standard input is blank (podrun -- COMMAND)");
  }
  if (shell.text.find('\0') != std::string::npos)
    throw UsageError("the text on standard input has a NUL byte (expected shell text)");
  return shell;
}

void check_standard_input(const Options& options) {
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

constexpr std::size_t kLongest = 2000;  ///< bytes; longer ones are no help

/// Values that are given to the command may be secret, and what is printed may be kept.
bool gives_values(const Options& options) {
  const auto has_value = [](const std::string& variable) { return variable.find('=') != std::string::npos; };
  if (std::any_of(options.environment.begin(), options.environment.end(), has_value)) return true;
  if (!options.words || options.words->empty()) return false;
  return supervisor::hide_values(options.words->front()) != options.words->front();
}

/// `<(…)` is gone with the run, as standard input is.
bool reads_what_is_gone(const Options& options) {
  const auto is_gone = [](const std::string& word) { return word.starts_with("/dev/fd/"); };
  const bool has_text = options.words || options.script;
  return !has_text || options.script == "-" || options.feed_input ||
         hosts::reads_standard_input(options.hosts) ||
         std::any_of(options.arguments.begin(), options.arguments.end(), is_gone);
}

/// The options after `podrun` in a hint, with which it means these hosts: numbers in place of `--workers
/// failed`, which soon means others.
std::string called_with(const Options& options, const std::vector<hosts::Host>& hosts) {
  std::string words = options.words_for_hosts;
  if (options.hosts.workers) {
    std::vector<std::size_t> workers;
    for (const hosts::Host& host : hosts) workers.push_back(host.worker);
    words += " --workers " + fold_workers(std::move(workers));
  }
  return options.sudo ? words + " --sudo" : words;
}

bool can_be_shown(std::string_view text) {
  return text.size() <= kLongest &&
         std::ranges::none_of(text, [](char c) { return is_control(c) && c != '\n'; });
}

}  // namespace

std::vector<supervisor::Variable> make_environment(const Options& options, const hosts::Probe& probe) {
  std::vector<supervisor::Variable> environment;
  const auto add_file = [&](const std::string& path, const std::string& where) {
    append(environment, secret(supervisor::parse_env_file(read_file(probe, where, path), path)));
  };
  for (const ConfiguredEnvironment& each : options.configured_environment) {
    if (each.is_file) {
      add_file(each.text, each.where);
    } else if (!supervisor::is_host_list(each.text)) {
      append(environment, secret({parse_variable(each.text, each.where, probe)}));
    }
  }
  for (const std::string& path : options.environment_files) add_file(path, "--env-file");
  for (const std::string& text : options.environment) {
    if (!supervisor::is_host_list(text)) environment.push_back(parse_variable(text, "--env", probe));
  }
  return environment;
}

supervisor::Command command_in_surroundings(const Options& options, const hosts::Probe& probe) {
  supervisor::Command command;
  command.environment = make_environment(options, probe);
  command.lists = asked_lists(options);
  command.shell = options.login ? supervisor::ShellStart::login : supervisor::ShellStart::plain;
  return command;
}

supervisor::Command read_command(const Options& options, const hosts::Probe& probe) {
  check_standard_input(options);
  if (options.exact_words && (options.script || !options.words))
    throw UsageError("--exec: it belongs to the words after \"--\" (podrun --exec -- PROGRAM ARGUMENT...)");
  supervisor::Command command = command_in_surroundings(options, probe);
  if (options.script) {
    command.what = make_script(options, probe);
  } else if (!options.words) {
    command.what = read_text(probe);
  } else {
    std::vector<std::string> words = *options.words;
    if (words.empty()) throw UsageError("no command after \"--\" (podrun -- COMMAND)");
    if (!options.exact_words) append(command.environment, supervisor::take_assignments(words));
    if (words.size() == 1 && trim_space(words.front()).empty()) {
      throw UsageError("the command after \"--\" is blank (podrun -- COMMAND)");
    }
    if (words.size() == 1 && !options.exact_words) {
      command.what = supervisor::ShellText{words.front()};
    } else {
      command.what = supervisor::Words{std::move(words)};
    }
  }
  return command;
}

session::SessionSpec session_spec(const Options& options, const hosts::Probe& probe,
                                  const std::shared_ptr<output::Terminal>& terminal) {
  session::SessionSpec session;
  hosts::Discovery found = hosts::discover(options.hosts, probe);
  if (options.source_host) hosts::include_host(found, *options.source_host, "push");
  session.hosts = std::move(found.hosts);
  session.notes = std::move(found.notes);
  if (!hosts::reads_standard_input(options.hosts)) session.called += called_with(options, session.hosts);
  session.limits.fanout = options.limits.fanout;
  session.limits.connect_timeout = options.limits.connect_timeout;
  session.limits.retries = options.limits.retries;
  session.limits.grace = options.limits.grace;
  session.orphan_timeout = options.orphan_timeout;
  if (options.sudo) session.privilege = link::Privilege::root;
  session.reach = reach::plan_reach(options.ssh, probe);
  session.reach.via = options.via;
  reach::find_settings(session.reach, session.hosts, session.limits);
  if (options.connect_timeout_given) session.limits.connect_timeout = options.limits.connect_timeout;
  if (options.retries_given) session.limits.retries = options.limits.retries;
  session.attempts_chosen = options.attempts_chosen;
  session.verbosity = options.quiet ? session::kQuiet : options.verbosity;
  session.status =
      session::choose_status_style(options.quiet ? output::Progress::never : options.progress,
                                   options.feed_input || hosts::reads_standard_input(options.hosts), probe);
  session.terminal = terminal;
  return session;
}

session::RunSpec users_command(const hosts::Probe& probe, const session::SessionSpec& session,
                               supervisor::Command command) {
  if (!is_only_here(session)) return session::users_command(session, std::move(command));
  std::vector<supervisor::Variable> environment = variables_of_podrun(probe);
  append(environment, std::exchange(command.environment, {}));
  command.environment = std::move(environment);
  session::RunSpec run = session::users_command(session, std::move(command));
  run.plan.command.text.insert(0, append_to_path(own_directory()));
  return run;
}

session::RunSpec users_run(const Options& options, const hosts::Probe& probe,
                           const session::SessionSpec& session, supervisor::Command command) {
  session::RunSpec run = users_command(probe, session, std::move(command));
  run.plan.limits.serial = options.limits.serial;
  run.plan.limits.on_unreachable = options.limits.on_unreachable;
  run.plan.limits.on_failure = options.limits.on_failure;
  run.plan.limits.timeout = options.limits.timeout;
  run.plan.supervision.directory = directory_of(options, probe);
  if (options.feed_input) run.plan.supervision.input = supervisor::StandardInput::fed;
  if (options.clean_up) run.plan.supervision.preparations.push_back(supervisor::clean_up());
  run.view = view(options);
  run.feeds_input = options.feed_input;
  run.home = probe.env("HOME").value_or("");
  run.input_unsent = !options.feed_input && options.script != "-" && (options.words || options.script) &&
                     !hosts::reads_standard_input(options.hosts);
  if (!supervisor::uses_ranks(run.plan.command))
    run.retry_command = [&options](const std::string& workers) { return repeat_command(options, workers); };
  return run;
}

std::string current_directory(const hosts::Probe& probe) {
  const std::filesystem::path actual = podrun::current_directory("--cwd");
  const std::string logical = probe.env("PWD").value_or("");
  std::error_code error;
  if (logical.starts_with('/') && std::filesystem::equivalent(logical, actual, error) && !error)
    return logical;
  return actual;
}

std::string directory_of(const Options& options, const hosts::Probe& probe) {
  if (options.directory) return *options.directory;
  return options.same_directory ? current_directory(probe) : "";
}

std::string repeat_command(const Options& options, const std::string& workers) {
  const std::string added = "--workers " + workers + (options.outdir.empty() ? "" : " --append");
  std::string text = "podrun " + added;
  for (const std::string& word : options.arguments_to_repeat) text += ' ' + shell_quote_option(word);
  if (gives_values(options) || reads_what_is_gone(options) || !can_be_shown(text))
    return "the same command with " + added + (options.force ? ", without --force" : "");
  return text;
}

transfer::Spreading spreading(const Options& options) {
  using enum transfer::Spreading;
  if (options.sudo || !options.via.empty()) return impossible;
  return options.spread ? wanted : possible;
}

session::View view(const Options& options) {
  session::View view = static_cast<const session::View&>(options);
  if (options.append) view.earlier = output::EarlierOutput::append;
  if (options.force) view.earlier = output::EarlierOutput::replace;
  return options.kept_in.empty() ? view : session::stored_view(std::move(view));
}

}  // namespace podrun::cli
