// SPDX-License-Identifier: Apache-2.0
#include "podrun/session/questions.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/secret.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"

namespace podrun::session {
namespace {

constexpr int kTries = 3;

bool accept_host_keys(ssh::HostKeys& host_keys, const output::Asker& asker) {
  std::vector<ssh::HostKeyQuestion> questions = host_keys.questions();
  if (questions.empty()) return true;
  std::sort(questions.begin(), questions.end(),
            [](const ssh::HostKeyQuestion& a, const ssh::HostKeyQuestion& b) { return a.name < b.name; });
  std::string text =
      fmt::format("{} not known yet:\n", questions.size() == 1 ? "This host is" : "These hosts are");
  for (const ssh::HostKeyQuestion& question : questions) {
    std::string_view type = question.key.type;
    if (type.starts_with("ssh-")) type.remove_prefix(4);  // so that the line fits in 80 columns
    text += fmt::format("  {} {} {}\n", output::escape_controls(question.name), output::escape_controls(type),
                        ssh::fingerprint(question.key));
  }
  text += fmt::format("Trust {} (yes/no)? ", questions.size() == 1 ? "it" : "all of them");
  if (!ask_yes_or_no(text, asker)) return false;
  host_keys.accept(questions);
  return true;
}

std::optional<Secret> ask_for_secret(const std::string& what, bool was_wrong, const output::Asker& asker) {
  hide_memory();
  const std::string question =
      fmt::format("{}{}: ", output::escape_controls(what), was_wrong ? " (it was wrong)" : "");
  std::optional<std::string> answer = output::ask_on_terminal(question, output::Echo::off, asker);
  if (!answer) return std::nullopt;
  return Secret(*std::move(answer));
}

bool unlock(ssh::Identities& identities, const std::string& file, const output::Asker& asker) {
  for (int time = 0; time < kTries; ++time) {
    const std::optional<Secret> passphrase = ask_for_secret("Passphrase for " + file, time > 0, asker);
    if (!passphrase) return false;
    if (identities.unlock(file, passphrase->text())) return true;
  }
  return false;
}

/// `Password for root on 8 hosts`, `Password for root@gate`
std::string describe(const ssh::Passwords::Question& question) {
  const std::string& user = question.account.user;
  if (question.hosts.size() > 1)
    return fmt::format("Password for {} on {}", user, count_hosts(question.hosts.size()));
  const std::string& jump_host = question.account.jump_host;
  return fmt::format("Password for {}@{}", user, jump_host.empty() ? question.hosts.front() : jump_host);
}

bool ask_for_passwords(ssh::Passwords& passwords, const output::Asker& asker) {
  for (const ssh::Passwords::Question& question : passwords.take_questions()) {
    std::optional<Secret> password = ask_for_secret(describe(question), question.was_wrong, asker);
    if (!password || password->text().empty()) return false;
    passwords.answer(question.account, *std::move(password));
  }
  return true;
}

}  // namespace

bool ask_yes_or_no(const std::string& question, const output::Asker& asker) {
  std::string text = question;
  for (int time = 0; time < kTries; ++time) {
    const std::optional<std::string> answer = output::ask_on_terminal(text, output::Echo::on, asker);
    std::string word = lower_case(answer.value_or("no"));
    std::erase(word, ' ');
    if (word == "yes" || word == "y") return true;
    if (word == "no" || word == "n") return false;
    text = "Please answer yes or no: ";
  }
  return false;
}

bool answer_questions(reach::SshState& ssh, const output::Asker& asker) {
  if (!accept_host_keys(ssh.host_keys, asker)) return false;
  for (const std::string& file : std::exchange(ssh.memory.locked_files, {})) {
    if (!unlock(ssh.identities, file, asker)) return false;
  }
  return ask_for_passwords(ssh.memory.passwords, asker);
}

}  // namespace podrun::session
