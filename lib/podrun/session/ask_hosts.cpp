// SPDX-License-Identifier: Apache-2.0
// A run of podrun's own script, whose output is collected for the command that asked instead of being shown.
#include "podrun/session/ask_hosts.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "podrun/report/summary.hpp"

namespace podrun::session {
namespace {

constexpr std::size_t kMost = 256 * 1024;  ///< bytes of one stream of one host

class AskMode final : public Mode {
 public:
  AskMode(const RunSpec& run, output::Charset charset, Answers& answers)
      : run_(run), charset_(charset), answers_(answers) {}

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& /*terminal*/) override {
    replies_ = std::make_shared<Replies>(run_.plan.hosts.size());
    return {replies_};
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int /*status*/) override {
    for (std::size_t host = 0; host < run_.plan.hosts.size(); ++host) {
      answers_.texts.push_back(replies_->of(host));
      answers_.errors.push_back(replies_->errors_of(host));
    }
    for (std::string& line :
         report::summarize(run_.plan.hosts, policy.outcomes(), std::nullopt, policy.interrupted_by(),
                           output::separator(charset_), report::Work::answers))
      output.say(std::move(line));
  }

 private:
  const RunSpec& run_;
  const output::Charset charset_;
  Answers& answers_;
  std::shared_ptr<Replies> replies_;
};

}  // namespace

void Replies::line(const output::Line& line) {
  std::string& text = line.stream == StreamId::out ? texts_[line.host] : errors_[line.host];
  if (text.size() > kMost) return;
  text += line.text;
  text += '\n';
}

Answers ask_hosts(Session& session, const RunSpec& run) {
  Answers answers;
  AskMode mode(run, session.charset(), answers);
  answers.result = session.run(run, mode);
  return answers;
}

}  // namespace podrun::session
