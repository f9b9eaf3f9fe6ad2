// SPDX-License-Identifier: Apache-2.0
// Hints after a failure: what the user probably meant, and what to do.
#include "podrun/report/hint.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/link/turned_away.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/supervisor/environment.hpp"

namespace podrun::report {
namespace {

constexpr std::array<std::string_view, 11> kOperators = {"|",  "||", "&&", "&",    ";", ">",
                                                         ">>", "<",  "2>", "2>&1", "&>"};
bool acts_in_a_shell(const std::string& word) {
  return std::find(kOperators.begin(), kOperators.end(), word) != kOperators.end() ||
         ((word.find('*') != std::string::npos || word.starts_with("~/")) &&
          word.find(' ') == std::string::npos);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += acts_in_a_shell(word) ? word : shell_quote(word);
  }
  return text;
}

/// Whether a host has such a failure.
template <typename Is>
bool has_failure(const std::vector<run::HostOutcome>& outcomes, Is is) {
  return std::any_of(outcomes.begin(), outcomes.end(), [is](const run::HostOutcome& outcome) {
    const link::Failure* failure = run::failure_of(outcome);
    return failure && is(*failure);
  });
}

/// Whether a command ended with such a status.
template <typename Is>
bool has_exited(const std::vector<run::HostOutcome>& outcomes, Is is) {
  return std::any_of(outcomes.begin(), outcomes.end(), [is](const run::HostOutcome& outcome) {
    const auto* exited = std::get_if<link::Exited>(&outcome);
    return exited && is(exited->status);
  });
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// sudo and sudo-rs have different messages if they would have to ask.
std::optional<std::string> sudo_hint(const std::vector<run::HostOutcome>& outcomes) {
  const bool asks = has_failure(outcomes, [](const link::Failure& failure) {
    return failure.cause == link::Cause::ended_early && failure.detail.starts_with("sudo: ") &&
           (has(failure.detail, "password") || has(failure.detail, "authentication"));
  });
  const bool is_missing = has_failure(outcomes, [](const link::Failure& failure) {
    return failure.cause == link::Cause::ended_early && has(failure.detail, "sudo") &&
           failure.detail.ends_with("(exit 127)");
  });
  if (is_missing) return "podrun: --sudo needs sudo there (leave it out where the login is root's)";
  if (!asks) return std::nullopt;
  return "podrun: --sudo cannot give a password (set NOPASSWD in sudoers there, or log in as root)";
}

/// The words of a simple command, given as words or as one text; else none.
std::vector<std::string> simple_words(const supervisor::Command& command) {
  if (const auto* words = std::get_if<supervisor::Words>(&command.what)) return words->words;
  const auto* text = std::get_if<supervisor::ShellText>(&command.what);
  if (!text || text->text.find_first_of("|&;<>()$`\\\"'*?[#~\n") != std::string::npos) return {};
  std::vector<std::string> words;
  for (const std::string_view word : split(text->text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

std::string script_line(const std::vector<std::string>& words, std::size_t script) {
  std::vector<std::string> line{"podrun", "-s", words[script]};
  if (script + 1 < words.size()) line.emplace_back("--");
  line.insert(line.end(), words.begin() + static_cast<std::ptrdiff_t>(script) + 1, words.end());
  return shell_quote(line);
}

/// Nothing of podrun ran there: a start-up file or a forced command has taken its place. One that says why it
/// refuses fails with a status of its own; 125 is of podrun's script without its beginning.
bool is_replaced(const link::Failure& failure) {
  return failure.stage == link::Stage::starting_shell && failure.cause == link::Cause::ended_early &&
         !failure.detail.starts_with("sudo: ") &&
         (failure.detail.starts_with("it ended before ") || failure.detail.ends_with("(exit 0)") ||
          failure.detail.ends_with("(exit 125)"));
}

/// About a login that leads to no /bin/sh.
std::string start_up_files(const std::string& name, const link::Failure& failure) {
  if (is_replaced(failure))
    return fmt::format(
        "podrun: the login to {} worked, but it ended before podrun's script: perhaps a start-up file there "
        "(.bashrc) reads standard input or exits, or a forced command replaces /bin/sh",
        name);
  const std::string longer = duration_option(3 * failure.after.value_or(run::Limits{}.connect_timeout));
  return fmt::format(
      "podrun: the login to {} worked, but /bin/sh never answered: perhaps a start-up file there (.bashrc) "
      "is slow (-t {} waits longer), waits or runs another shell, or a forced command replaces /bin/sh",
      name, longer);
}

}  // namespace

std::optional<std::string> local_path_hint(const supervisor::Command& command,
                                           const std::vector<run::HostOutcome>& outcomes, const Here& here) {
  const std::vector<std::string> words = simple_words(command);
  if (words.empty()) return std::nullopt;
  const std::string& program = words.front();
  const bool is_shell = program == "sh" || program == "bash";
  const std::size_t script = is_shell ? 1 : 0;
  const bool not_found = has_exited(outcomes, [](int status) { return status == 127; });
  if ((not_found || (is_shell && has_exited(outcomes, [](int status) { return status == 2; }))) &&
      script < words.size() && (is_shell || program.find('/') != std::string::npos) &&
      !words[script].starts_with('/') && here.is_file(words[script])) {
    return fmt::format("podrun: \"{}\" is a file of this machine; to run it on the hosts: {}", words[script],
                       script_line(words, script));
  }
  if (!not_found || here.home.size() < 2 || !program.starts_with(here.home + '/') ||
      !std::holds_alternative<supervisor::Words>(command.what))
    return std::nullopt;
  std::vector<std::string> quoted = words;
  quoted.front() = '~' + program.substr(here.home.size());
  return fmt::format(
      "podrun: \"{}\" is in the home directory of this machine, whose shell expands ~; for that of each host "
      "quote the whole command: podrun -- {}",
      program, shell_quote(joined(quoted)));
}

std::optional<std::string> sudo_variable_hint(const supervisor::Command& command) {
  std::vector<std::string> dropped;
  if (const auto* text = std::get_if<supervisor::ShellText>(&command.what)) {
    for (const std::string_view word : split(text->text, ' ')) {
      const std::size_t equals = word.find('=');
      const bool assigns = equals != word.npos && supervisor::is_variable_name(word.substr(0, equals));
      if (!assigns && word != "sudo") return std::nullopt;
      if (!assigns) break;
      dropped.emplace_back(word.substr(0, equals));
    }
  } else if (const auto* words = std::get_if<supervisor::Words>(&command.what)) {
    if (words->words.front() != "sudo" || words->words[1].starts_with('-')) return std::nullopt;
    for (const supervisor::Variable& variable : command.environment) {
      if (!variable.secret) dropped.push_back(variable.name);
    }
  }
  if (dropped.empty()) return std::nullopt;
  return fmt::format("podrun: sudo drops {}; podrun --sudo keeps it: podrun --sudo -- {}=… COMMAND",
                     join(dropped, ", "), dropped.front());
}

std::optional<std::string> quoting_hint(const std::vector<std::string>& words,
                                        const std::vector<run::HostOutcome>& outcomes) {
  if (!has_exited(outcomes, [](int status) { return status != 0; }) || words.size() < 2) return std::nullopt;
  const auto word = is_shell_builtin(words.front())
                        ? words.begin()
                        : std::find_if(words.begin(), words.end(), acts_in_a_shell);
  if (word == words.end()) return std::nullopt;
  return fmt::format(
      "podrun: with several words no shell is used, so \"{}\" was passed literally; quote the whole "
      "command: podrun -- {}",
      *word, shell_quote(joined(words)));
}

std::optional<std::string> login_hint(const std::vector<run::HostOutcome>& outcomes, bool can_ask) {
  bool denied = false;
  bool take_password = false;
  for (const run::HostOutcome& outcome : outcomes) {
    const link::Failure* failure = run::failure_of(outcome);
    if (!failure || failure->cause != link::Cause::permission_denied || !failure->jump_hosts.empty())
      continue;
    denied = true;
    take_password = take_password || failure->retry == link::Retry::after_asking;
  }
  if (!denied) return std::nullopt;
  return fmt::format(
      "podrun: no key is accepted there: ssh-copy-id HOST gives a host your key; on Google Cloud, gcloud "
      "compute "
      "tpus tpu-vm ssh NAME --worker=all does, once (if the user name is wrong: -l USER){}",
      take_password && !can_ask ? "; podrun asks for a password only on a terminal" : "");
}

std::optional<std::string> busy_hint(const std::vector<run::HostOutcome>& outcomes, std::string_view called) {
  constexpr std::string_view kJob = " for the job ";
  std::set<std::string> jobs;
  bool others = false;
  for (const run::HostOutcome& outcome : outcomes) {
    const link::Failure* failure = run::failure_of(outcome);
    if (!failure || failure->stage != link::Stage::clean_up || !has(failure->detail, " holds ")) continue;
    const std::size_t at = failure->detail.rfind(kJob);
    const std::string job = at == std::string::npos ? "" : failure->detail.substr(at + kJob.size());
    if (is_job_name(job)) {
      jobs.insert(fmt::format("{} stop {}", called, job));
    } else {
      others = true;
    }
  }
  std::string hint;
  if (!jobs.empty())
    hint = fmt::format("{} frees the accelerators of {}", fmt::join(jobs, " and "),
                       jobs.size() == 1 ? "that job" : "those jobs");
  if (others) {
    hint += fmt::format("{}{} kill lists what holds the accelerators, and asks before it stops it",
                        hint.empty() ? "" : "; ", called);
  }
  return hint.empty() ? std::nullopt : std::optional("podrun: " + hint);
}

std::optional<std::string> turned_away_hint(const std::vector<run::HostOutcome>& outcomes) {
  if (!has_failure(outcomes, link::is_turned_away)) return std::nullopt;
  return "podrun: an SSH server that closes with such words has too many logins under way (MaxStartups), or "
         "turns "
         "this address away for a while after failed logins (PerSourcePenalties): wait 20 s, and check -l "
         "and -i";
}

std::optional<std::string> start_up_hint(const std::vector<hosts::Host>& hosts,
                                         const std::vector<run::HostOutcome>& outcomes, RemoteBy remote) {
  const auto silent = std::find_if(outcomes.begin(), outcomes.end(), [](const run::HostOutcome& outcome) {
    const link::Failure* failure =
        run::failure_of(outcome);  // a single host is lost, since it may have started
    return failure && failure->stage == link::Stage::starting_shell &&
           (failure->cause == link::Cause::timed_out || is_replaced(*failure));
  });
  if (silent == outcomes.end() && has_failure(outcomes, [](const link::Failure& failure) {
        return failure.stage == link::Stage::ssh_banner && failure.cause == link::Cause::timed_out;
      })) {
    return "podrun: a host that takes the connection and then says nothing is starting, hangs or has no "
           "memory left, or its port is not that of an SSH server";
  }
  if (silent == outcomes.end()) return sudo_hint(outcomes);
  const hosts::Host& host = hosts[static_cast<std::size_t>(silent - outcomes.begin())];
  const std::string name = output::escape_controls(host.name);
  const link::Failure& failure = *run::failure_of(*silent);
  const bool is_own = host.kind == hosts::HostKind::local || remote == RemoteBy::via;
  if (is_own && failure.cause != link::Cause::timed_out) return std::nullopt;  // its last line says why
  if (host.kind == hosts::HostKind::local)
    return "podrun: /bin/sh on this machine never answered: is it overloaded?";
  if (remote == RemoteBy::via) {
    return fmt::format(
        "podrun: /bin/sh on {} never answered: start the command of --via by hand, with /bin/sh as its last "
        "word (it may wait for an answer or for resources, or not pass on standard input)",
        name);
  }
  return start_up_files(name, failure);
}

}  // namespace podrun::report
