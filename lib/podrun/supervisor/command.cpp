// SPDX-License-Identifier: Apache-2.0
// Composes the sh text of a run: environment, directory, login shell, sudo and the command's words.
#include "podrun/supervisor/command.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/supervisor/host_lists.hpp"

namespace podrun::supervisor {
namespace {

constexpr std::string_view kShell = "\"${SHELL:-/bin/sh}\"";

/// Without the values that later ones replace: begin_user_shell() sets each name once.
std::vector<Variable> last_of_each_name(const std::vector<Variable>& all) {
  std::vector<Variable> last;
  std::set<std::string_view> names;
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    if (names.insert(each->name).second) last.push_back(*each);
  }
  std::ranges::reverse(last);
  return last;
}

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

/// The words of a `#!` line as the kernel reads it: an interpreter and at most one argument; empty: no such
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

/// How one kind of login shell expresses the steps that run in the user's own shell.
struct Dialect {
  std::string_view shells;        ///< a pattern of sh
  std::string_view profile;       ///< does what -l would do, for a shell without -l for -c
  std::string_view set_variable;  ///< {0}: a name
  std::string_view run_words;     ///< the parameters, or podrun_words
  std::string_view run_file;      ///< the first parameter
};
constexpr std::array kDialects = {
    Dialect{"fish", "", "set -gx {0} $podrun_env_{0}; set -e podrun_env_{0}; ", "exec $argv[2..-1]",
            "source $argv[2]"},
    // It would lose empty parameters.
    Dialect{"csh | tcsh", "if (-r /etc/csh.login) source /etc/csh.login; if (-r ~/.login) source ~/.login; ",
            "setenv {0} \"$podrun_env_{0}:q\"; unsetenv podrun_env_{0}; ",
            "exec /bin/sh -c 'eval \"$podrun_words\"'", "source \"$argv[2]\""},
    Dialect{"*", "", "export {0}=\"$podrun_env_{0}\"; unset podrun_env_{0}; ", "exec \"$@\"", ". \"$1\""}};

/// Sets podrun_first to the first commands of the user's shell, and podrun_l to its option. The values of -e
/// win over those of start-up files: they are set again after these, from variables of podrun.
std::string begin_user_shell(const Command& command, std::string_view Dialect::*body) {
  const bool login = command.shell == ShellStart::login;
  std::string text;
  for (const Variable& variable : command.environment)
    text += fmt::format("export podrun_env_{0}=\"${0}\"; ", variable.name);
  text += "case ${SHELL##*/} in ";
  for (const Dialect& dialect : kDialects) {
    std::string first(login ? dialect.profile : "");
    for (const Variable& variable : command.environment)
      first += fmt::format(fmt::runtime(dialect.set_variable), variable.name);
    if (body) first += dialect.*body;
    text += fmt::format("{}) podrun_first={} podrun_l={} ;; ", dialect.shells, shell_quote(first),
                        login && dialect.profile.empty() ? "-l" : "");
  }
  return text + fmt::format("esac; set -- {} $podrun_l -c \"$podrun_first\"", kShell);
}

/// Words, each quoted and after a blank, in a login shell.
std::string words_in_login_shell(const Command& command, const std::string& words) {
  const std::string again =
      fmt::format("{}; set --{}; unset podrun_words podrun_dir; exec \"$@\"", kDefineNewline, words);
  return fmt::format(
      "podrun_words={}; case $SHELL in *csh) export podrun_words podrun_dir ;; esac; {} podrun{}",
      shell_quote_in_line(again), begin_user_shell(command, &Dialect::run_words), words);
}

RemoteCommand build(const Words& words, const Command& command) {
  const std::string quoted = set_words(words.words);
  if (command.shell == ShellStart::plain) return {"set --" + quoted, {}};
  return {words_in_login_shell(command, quoted), {}};
}

RemoteCommand build(const ShellText& shell, const Command& command) {
  const bool as_it_is = command.shell == ShellStart::plain && command.environment.empty();
  const std::string start =
      as_it_is ? fmt::format("set -- {} -c ", kShell) : begin_user_shell(command, nullptr);
  if (shell.text.size() <= kMaxInlineText) return {start + shell_quote_in_line(shell.text), {}};
  const std::string file = file_path("podrun.command");
  const std::vector<RemoteFile> files = {{"podrun.command", shell.text}};
  if (as_it_is) return {fmt::format("set -- {} {}", kShell, file), files};
  return {begin_user_shell(command, &Dialect::run_file) + " podrun " + file, files};
}

/// The file's own name, unless podrun could have a file of that name beside it.
std::string remote_name(const Script& script) {
  return (script.name.starts_with("podrun.") ? "script." : "") + script.name;
}

RemoteCommand build(const Script& script, const Command& command) {
  const std::string name = remote_name(script);
  std::vector<std::string> words =
      script.interpreter.empty() ? interpreter(script.content) : script.interpreter;
  if (words.empty()) words = {"/bin/sh"};
  const std::string quoted =
      fmt::format("{} {}{}", set_words(words), file_path(name), set_words(script.arguments));
  std::string text =
      command.shell == ShellStart::plain ? "set --" + quoted : words_in_login_shell(command, quoted);
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
  const bool again = command.shell == ShellStart::login || std::holds_alternative<ShellText>(command.what);
  const std::size_t longest = kMaxWord - 1 - (again ? std::string_view("podrun_env_").size() : 0);
  for (const Variable& variable : command.environment) {
    if (variable.name == "PODRUN_MARK" || variable.name.starts_with("podrun_")) {
      throw UsageError(
          fmt::format("the variable \"{}\" is reserved by podrun (choose another name)", variable.name));
    }
    if (variable.name.size() + variable.value.size() <= longest) continue;
    throw UsageError(fmt::format(
        "the value of \"{}\" has {} bytes, too many for one variable on the hosts (at most {}; send a file)",
        variable.name, variable.value.size(), longest - variable.name.size()));
  }
}

/// The host's own address, for a command that starts before podrun knows it: the third word of
/// $SSH_CONNECTION, see ssh(1), if that looks like an IP address.
constexpr std::string_view kOwnAddress =
    "export PODRUN_HOST0=\"$PODRUN_HOST\"; podrun_own() { case $3 in *[!0-9A-Fa-f.:]*) ;; *[.:]*) "
    "PODRUN_HOST0=$3 ;; esac; }; podrun_own "
    "$SSH_CONNECTION; ";

/// Whether the command names the variable, in its words or its script, or `-e NAME` does. What a program on
/// the host reads nobody can know here.
bool asks_for(const RemoteCommand& command, std::string_view name) {
  const auto names_it = [name](std::string_view text) { return text.find(name) != std::string_view::npos; };
  return std::ranges::find(command.lists, name) != command.lists.end() || names_it(command.text) ||
         std::ranges::any_of(command.files, [&](const RemoteFile& file) { return names_it(file.content); });
}

}  // namespace

bool is_host_list(std::string_view name) {
  return name == "PODRUN_HOSTLIST" || name == "PODRUN_ADDRESSES" || name == "PODRUN_SLOTLIST";
}

RemoteCommand build_command(const Command& given) {
  Command command = given;
  command.environment = last_of_each_name(given.environment);
  if (const auto* words = std::get_if<Words>(&command.what)) check_words(words->words);
  if (const auto* script = std::get_if<Script>(&command.what)) check_words(script->arguments);
  check_environment(command);
  RemoteCommand remote = std::visit([&](const auto& what) { return build(what, command); }, command.what);
  remote.text = exports(command.environment) + remote.text;
  remote.lists = command.lists;
  if (remote.text.size() > kMaxInlineText) {
    remote.files.push_back({"podrun.environment", remote.text});
    remote.text = ". " + file_path("podrun.environment");
  }
  return remote;
}

Command script_command(std::string_view script, std::vector<std::string> arguments) {
  std::vector<std::string> words = {
      "/bin/sh", "-c", R"(podrun_script=$PODRUN_SCRIPT; unset PODRUN_SCRIPT; eval "$podrun_script")",
      "podrun"};
  words.insert(words.end(), std::make_move_iterator(arguments.begin()),
               std::make_move_iterator(arguments.end()));
  return {.what = Words{std::move(words)}, .environment = {{"PODRUN_SCRIPT", std::string(script)}}};
}

bool uses_ranks(const RemoteCommand& command) {
  constexpr std::array kNames = {"PODRUN_RANK",     "PODRUN_NUM_HOSTS", "PODRUN_HOST0",
                                 "PODRUN_HOSTLIST", "PODRUN_ADDRESSES", "PODRUN_SLOTLIST"};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return asks_for(command, name); });
}

std::string go_of_host(const RankVariables& variables) {
  std::vector<Variable> own = {{"PODRUN_RANK", std::to_string(variables.rank)},
                               {"PODRUN_WORKER", std::to_string(variables.worker)},
                               {"PODRUN_HOST", variables.host}};
  if (variables.slots != 0) own.push_back({"PODRUN_SLOTS", std::to_string(variables.slots)});
  return exports(own);
}

std::string go_of_all(const RemoteCommand& command, const RankVariables& variables) {
  const auto list = [&command](std::string_view name, const std::string& values) {
    return HostListVariable{std::string(name), values, asks_for(command, name)};
  };
  std::vector<HostListVariable> lists = {list("PODRUN_HOSTLIST", variables.host_list)};
  if (!variables.host0.empty() && !variables.addresses.empty())
    lists.push_back(list("PODRUN_ADDRESSES", variables.addresses));
  if (!variables.slot_list.empty()) lists.push_back(list("PODRUN_SLOTLIST", variables.slot_list));
  std::string text =
      exports({{"PODRUN_NUM_HOSTS", std::to_string(variables.hosts)}, {"PODRUN_RUN_ID", variables.run_id}});
  text += export_lists(lists);
  if (variables.host0.empty()) {
    text += kOwnAddress;
    text += "export PODRUN_ADDRESSES=\"$PODRUN_HOST0\"; ";
  } else {
    text += exports({{"PODRUN_HOST0", variables.host0}});
  }
  return text + command.text;
}

}  // namespace podrun::supervisor
