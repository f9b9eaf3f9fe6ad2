// SPDX-License-Identifier: Apache-2.0
#include "questions.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/output/escape.hpp"
#include "podrun/output/question.hpp"

namespace podrun {
namespace {

constexpr int kTries = 3;

bool accept_host_keys(HostKeys& host_keys, const std::function<bool()>& interrupted) {
  std::vector<HostKeyQuestion> questions = host_keys.questions();
  if (questions.empty()) return true;
  std::sort(questions.begin(), questions.end(),
            [](const HostKeyQuestion& a, const HostKeyQuestion& b) { return a.name < b.name; });
  std::string text =
      fmt::format("{} not known yet:\n", questions.size() == 1 ? "This host is" : "These hosts are");
  for (const HostKeyQuestion& question : questions) {
    text += fmt::format("  {} {} {}\n", escape_controls(question.name), escape_controls(question.key.type),
                        fingerprint(question.key));
  }
  text += fmt::format("Trust {} (yes/no)? ", questions.size() == 1 ? "it" : "all of them");
  const std::optional<std::string> answer = ask_on_terminal(text, Echo::on, interrupted);
  if (answer != "yes" && answer != "y") return false;
  host_keys.accept(questions);
  return true;
}

bool unlock(Identities& identities, const std::string& file, const std::function<bool()>& interrupted) {
  for (int time = 0; time < kTries; ++time) {
    const std::optional<std::string> passphrase = ask_on_terminal(
        fmt::format("Passphrase for {}{}: ", escape_controls(file), time == 0 ? "" : " (it was wrong)"),
        Echo::off, interrupted);
    if (!passphrase) return false;
    if (identities.unlock(file, *passphrase)) return true;
  }
  return false;
}

}  // namespace

bool answer_questions(SshState& ssh, const std::function<bool()>& interrupted) {
  if (!accept_host_keys(ssh.host_keys, interrupted)) return false;
  for (const std::string& file : std::exchange(ssh.keys.locked_files, {})) {
    if (!unlock(ssh.identities, file, interrupted)) return false;
  }
  return true;
}

}  // namespace podrun
