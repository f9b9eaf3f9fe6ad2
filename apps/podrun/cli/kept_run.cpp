// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/local/spawn.hpp"
#include "podrun/supervisor/environment.hpp"

#include "cli/podrun_inside.hpp"
#include "cli/specs_from_options.hpp"

namespace podrun::cli {
namespace {

constexpr std::string_view kKept = "--kept";  ///< for podrun alone: --kept FILE
constexpr char kBetween = '\0';

/// An agent that sshd has made for this login ends with it: its socket is `/tmp/ssh-…/agent.PID`, as that of
/// ssh-agent(1), which sets SSH_AGENT_PID too.
bool ends_with_login(const hosts::Probe& probe, const std::string& socket) {
  if (!probe.env("SSH_CONNECTION") || probe.env("SSH_AGENT_PID")) return false;
  return socket.starts_with("/tmp/ssh-") ||
         (socket.find("/.ssh/agent/") != npos && socket.find(".sshd.") != npos);  // OpenSSH 10.1
}

bool has_battery() {
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/sys/class/power_supply", error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().native().starts_with("BAT")) return true;
  }
  return false;
}

/// All variables of this shell, but those that podrun sets itself, or that belong to this terminal.
std::vector<supervisor::Variable> variables_of_shell(const hosts::Probe& probe) {
  // sh refuses to set the second line of these.
  constexpr std::array<std::string_view, 13> kLeftOut = {
      "OLDPWD", "PWD",  "SHLVL", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "TERM", "_",  //
      "UID",    "EUID", "PPID",  "SHELLOPTS",  "BASHOPTS"};
  std::vector<supervisor::Variable> variables;
  for (const std::string& entry : local::environment_with({})) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string name = entry.substr(0, equals);
    const bool is_podruns = name.starts_with("PODRUN_") || name.starts_with("podrun_");
    if (equals == entry.size() || !supervisor::is_variable_name(name) || is_podruns) continue;
    if (std::ranges::find(kLeftOut, name) != kLeftOut.end()) continue;
    std::string value = entry.substr(equals + 1);
    if (name == "SSH_AUTH_SOCK" && ends_with_login(probe, value)) continue;
    variables.push_back({name, std::move(value), true});
  }
  return variables;
}

}  // namespace

std::optional<KeptRun> read_kept_run(const std::vector<std::string>& arguments, const hosts::Probe& probe) {
  if (arguments.size() != 2 || arguments.front() != kKept) return std::nullopt;
  const std::optional<std::string> text = probe.read_file(arguments.back());
  ::unlink(arguments.back().c_str());  // values of -e stay on no disk
  if (!text) throw UsageError(fmt::format("{}: there is no file {:?}", kKept, arguments.back()));
  KeptRun run{.words = {}, .directory = std::filesystem::path(arguments.back()).parent_path().parent_path()};
  std::string_view rest = *text;
  while (!rest.empty()) run.words.emplace_back(take_part(rest, kBetween));
  return run;
}

session::SessionSpec keeper_session(const Options& options, const hosts::Probe& probe,
                                    const std::shared_ptr<output::Terminal>& terminal) {
  Options here = options;
  hosts::HostQuery query;
  query.lists = {"local"};
  here.hosts = std::move(query);
  here.via.clear();
  here.sudo = false;
  here.source_host.reset();
  here.words_for_hosts.clear();
  return session_spec(here, probe, terminal);
}

session::RunSpec keeper_run(const hosts::Probe& probe, const session::SessionSpec& here,
                            const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + kBetween;
  const std::string program = own_program();
  if (program.empty())
    throw UsageError("start: /proc/self/exe cannot be read (podrun does not know its own path)");
  supervisor::Command command{.what = supervisor::Script{.name = "words",
                                                         .content = std::move(text),
                                                         .arguments = {},
                                                         .interpreter = {program, std::string(kKept)}}};
  command.environment = variables_of_shell(probe);
  for (supervisor::Variable& each : variables_of_podrun(probe)) {
    if (each.name != "SSH_AUTH_SOCK" || !ends_with_login(probe, each.value))
      command.environment.push_back(std::move(each));
  }
  session::RunSpec run = session::users_command(here, std::move(command));
  run.plan.supervision.directory = current_directory(probe);
  return run;
}

void note_tries(const std::string& directory, std::size_t tries) {
  replace_file(directory + "/tries", fmt::format("{}\n", tries));
}

std::vector<std::string> keeper_notes(const hosts::Probe& probe) {
  std::vector<std::string> notes;
  if (const auto socket = probe.env("SSH_AUTH_SOCK"); socket && ends_with_login(probe, *socket))
    notes.emplace_back("the agent of this login ends with it, so the job does without: it needs a key file");
  if (has_battery())
    notes.emplace_back(
        "while this machine sleeps it keeps nothing: the hosts stop the command after --orphan-timeout "
        "(start "
        "it on a machine that stays awake)");
  return notes;
}

}  // namespace podrun::cli
