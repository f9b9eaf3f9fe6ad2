// SPDX-License-Identifier: Apache-2.0
// Hints after a failure: what the user probably meant, and what to do.
#include "podrun/report/hint.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/run/outcome_groups.hpp"

namespace podrun::report {
namespace {

constexpr std::array<std::string_view, 11> kOperators = {"|",  "||", "&&", "&",    ";", ">",
                                                         ">>", "<",  "2>", "2>&1", "&>"};
// Commands of the shell itself for which there is no program.
constexpr std::array<std::string_view, 22> kBuiltins = {
    "cd",   "export", "source", ".",    "ulimit", "umask", "type", "set", "alias", "exec",  "eval",
    "wait", "exit",   "unset",  "trap", "read",   "shift", ":",    "if",  "for",   "while", "until"};

bool acts_in_a_shell(const std::string& word) {
  return std::find(kOperators.begin(), kOperators.end(), word) != kOperators.end() ||
         (word.find('*') != std::string::npos && word.find(' ') == std::string::npos);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += acts_in_a_shell(word) ? word : shell_quote(word);
  }
  return text;
}

/// sudo and sudo-rs each say in their own words that they would have to ask.
std::optional<std::string> sudo_hint(const std::vector<run::HostOutcome>& outcomes) {
  const bool asks = std::any_of(outcomes.begin(), outcomes.end(), [](const run::HostOutcome& outcome) {
    const link::Failure* failure = run::failure_of(outcome);
    if (!failure || failure->cause != link::Cause::ended_early || !failure->detail.starts_with("sudo: "))
      return false;
    return failure->detail.find("password") != std::string::npos ||
           failure->detail.find("authentication") != std::string::npos;
  });
  if (!asks) return std::nullopt;
  return "podrun: --sudo cannot give a password (set NOPASSWD in sudoers there, or log in as root)";
}

}  // namespace

std::optional<std::string> quoting_hint(const std::vector<std::string>& words,
                                        const std::vector<run::HostOutcome>& outcomes) {
  const bool failed = std::any_of(outcomes.begin(), outcomes.end(), [](const run::HostOutcome& outcome) {
    const auto* exited = std::get_if<link::Exited>(&outcome);
    return exited && exited->status != 0;
  });
  if (!failed || words.size() < 2) return std::nullopt;
  const bool builtin = std::find(kBuiltins.begin(), kBuiltins.end(), words.front()) != kBuiltins.end();
  const auto word = builtin ? words.begin() : std::find_if(words.begin(), words.end(), acts_in_a_shell);
  if (word == words.end()) return std::nullopt;
  return fmt::format(
      "podrun: with several words no shell is used, so \"{}\" was passed literally; quote the whole "
      "command: podrun -- {}",
      *word, shell_quote(joined(words)));
}

std::optional<std::string> start_up_hint(const std::vector<hosts::Host>& hosts,
                                         const std::vector<run::HostOutcome>& outcomes, RemoteBy remote) {
  const auto silent = std::find_if(outcomes.begin(), outcomes.end(), [](const run::HostOutcome& outcome) {
    const link::Failure* failure =
        run::failure_of(outcome);  // a single host is lost, since it may have started
    return failure && failure->stage == link::Stage::starting_shell &&
           failure->cause == link::Cause::timed_out;
  });
  if (silent == outcomes.end()) return sudo_hint(outcomes);
  const hosts::Host& host = hosts[static_cast<std::size_t>(silent - outcomes.begin())];
  const std::string name = output::escape_controls(host.name);
  if (host.kind == hosts::HostKind::local)
    return "podrun: /bin/sh on this machine never answered: is it overloaded?";
  if (remote == RemoteBy::via) {
    return fmt::format(
        "podrun: /bin/sh on {} never answered: start the command of --via by hand, with /bin/sh as its last "
        "word (it may wait for an answer or for resources, or not pass on standard input)",
        name);
  }
  return fmt::format(
      "podrun: the login to {} worked, but /bin/sh never answered: perhaps a start-up file there (.bashrc) "
      "waits or runs another shell, or a forced command replaces /bin/sh",
      name);
}

}  // namespace podrun::report
