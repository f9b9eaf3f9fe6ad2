// SPDX-License-Identifier: Apache-2.0
#include "podrun/remote/command.hpp"

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"

namespace podrun {
namespace {

constexpr std::string_view kShell = "\"${SHELL:-/bin/sh}\"";

std::string exports(const std::vector<Variable>& environment) {
  std::string text;
  for (const Variable& variable : environment) {
    text += fmt::format("export {}={}; ", variable.name, shell_quote_in_line(variable.value));
  }
  return text;
}

std::string set_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += ' ' + shell_quote_in_line(word);
  return text;
}

/// The words of a `#!` line as the kernel reads it: an interpreter and at most one argument; none: no such
/// line. execve(2), "Interpreter scripts".
std::vector<std::string> interpreter(std::string_view script) {
  constexpr std::string_view kBlank = " \t";
  if (!script.starts_with("#!")) return {};
  std::string_view line = script.substr(2, script.find('\n') - 2);
  std::vector<std::string> words;
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
  if (end == 0) return {};
  words.emplace_back(line.substr(0, end));
  line.remove_prefix(end);
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  line = line.substr(0, line.find_last_not_of(kBlank) + 1);
  if (!line.empty()) words.emplace_back(line);
  return words;
}

std::string file_path(std::string_view name) { return "\"$podrun_dir\"/" + shell_quote_in_line(name); }

/// Words that run `body` in a login shell, with `arguments` (quoted, each behind a blank) as its parameters.
/// It reads its profile first, and the values of -e win over that: they are set again before the body.
std::string in_login_shell(const std::vector<Variable>& environment, std::string_view body,
                           std::string_view arguments) {
  if (environment.empty())
    return fmt::format("set -- {} -l -c {}{}", kShell, shell_quote_in_line(body), arguments);
  const std::string again = fmt::format("{}; {}unset podrun_env", kDefineNewline, exports(environment));
  return fmt::format("podrun_env={}; export podrun_env; set -- {} -l -c {}{}", shell_quote_in_line(again),
                     kShell, shell_quote_in_line(fmt::format("eval \"$podrun_env\"; {}", body)), arguments);
}

RemoteCommand build(const Words& words, const Command& command) {
  const std::string quoted = set_words(words.words);
  if (command.shell == ShellStart::plain) return {"set --" + quoted, {}};
  return {in_login_shell(command.environment, "exec \"$@\"", " podrun" + quoted), {}};
}

RemoteCommand build(const ShellText& shell, const Command& command) {
  const bool login = command.shell == ShellStart::login;
  if (shell.text.size() <= kMaxInlineText) {
    if (login) return {in_login_shell(command.environment, shell.text, ""), {}};
    return {fmt::format("set -- {} -c {}", kShell, shell_quote_in_line(shell.text)), {}};
  }
  const std::string file = file_path("podrun.command");
  if (login)
    return {in_login_shell(command.environment, ". \"$1\"", " podrun " + file),
            {{"podrun.command", shell.text}}};
  return {fmt::format("set -- {} {}", kShell, file), {{"podrun.command", shell.text}}};
}

/// Its own name, unless that could be one of ours beside it.
std::string remote_name(const Script& script) {
  return (script.name.starts_with("podrun.") ? "script." : "") + script.name;
}

RemoteCommand build(const Script& script, const Command& command) {
  const std::string name = remote_name(script);
  std::vector<std::string> words = interpreter(script.content);
  if (words.empty()) words = {"/bin/sh"};
  const std::string quoted =
      fmt::format("{} {}{}", set_words(words), file_path(name), set_words(script.arguments));
  std::string text = command.shell == ShellStart::plain
                         ? "set --" + quoted
                         : in_login_shell(command.environment, "exec \"$@\"", " podrun" + quoted);
  return {std::move(text), {{name, script.content}}};
}

void check_words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.size() <= kMaxWord) continue;
    throw UsageError(fmt::format(
        "a word of {} bytes is too long for one argument on the hosts (at most {}; send a file, or use -I)",
        word.size(), kMaxWord));
  }
}

void check_environment(const Command& command) {
  for (const Variable& variable : command.environment) {
    if (variable.name == "PODRUN_MARK" || variable.name.starts_with("podrun_")) {
      throw UsageError(fmt::format("the variable \"{}\" is podrun's own (take another name)", variable.name));
    }
    if (variable.name.size() + 1 + variable.value.size() <= kMaxWord) continue;
    throw UsageError(fmt::format(
        "the value of \"{}\" has {} bytes, too many for one variable on the hosts (at most {}; send a file)",
        variable.name, variable.value.size(), kMaxWord - variable.name.size() - 1));
  }
  // A login shell gets them all in one.
  if (command.shell == ShellStart::login && exports(command.environment).size() > kMaxInlineText) {
    throw UsageError(fmt::format(
        "--login: the variables have more than {} bytes together (send them as a file)", kMaxInlineText));
  }
}

/// For a command that starts before we know it: the third word of $SSH_CONNECTION, see ssh(1).
constexpr std::string_view kOwnAddress =
    "podrun_own() { case $3 in \"\" | UNKNOWN) ;; *) PODRUN_HOST0=$3 ;; esac; }; podrun_own "
    "$SSH_CONNECTION; ";

}  // namespace

RemoteCommand build_command(const Command& command) {
  if (const auto* words = std::get_if<Words>(&command.what)) check_words(words->words);
  if (const auto* script = std::get_if<Script>(&command.what)) check_words(script->arguments);
  check_environment(command);
  RemoteCommand remote = std::visit([&](const auto& what) { return build(what, command); }, command.what);
  remote.text = exports(command.environment) + remote.text;
  remote.has_values = !command.environment.empty();
  if (remote.text.size() > kMaxInlineText) {
    remote.files.push_back({"podrun.environment", remote.text});
    remote.text = ". " + file_path("podrun.environment");
  }
  return remote;
}

std::string build_go(const RemoteCommand& command, const RankVariables& variables) {
  const std::vector<Variable> environment = {
      {"PODRUN_RANK", std::to_string(variables.rank)},
      {"PODRUN_NUM_HOSTS", std::to_string(variables.hosts)},
      {"PODRUN_WORKER", std::to_string(variables.worker)},
      {"PODRUN_HOST", variables.host},
      {"PODRUN_HOSTLIST", variables.host_list},
      {"PODRUN_HOST0", variables.host0.empty() ? variables.host : variables.host0},
      {"PODRUN_RUN_ID", variables.run_id},
  };
  return fmt::format("{}{}{}", exports(environment), variables.host0.empty() ? kOwnAddress : "",
                     command.text);
}

}  // namespace podrun
