// SPDX-License-Identifier: Apache-2.0
// A run whose output is collected for the caller instead of being shown.
#include "podrun/session/ask_hosts.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "podrun/report/summary.hpp"

namespace podrun::session {
namespace {

class CollectMode : public Mode {
 public:
  CollectMode(std::size_t hosts, std::size_t most, Answers& answers)
      : hosts_(hosts), most_(most), answers_(answers) {}

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& /*terminal*/) override {
    replies_ = std::make_shared<Replies>(hosts_, most_);
    return {replies_};
  }

  void print_final_report(output::Output& /*output*/, const run::RunPolicy& /*policy*/,
                          int /*status*/) override {
    for (std::size_t host = 0; host < hosts_; ++host) {
      answers_.texts.push_back(replies_->of(host));
      answers_.errors.push_back(replies_->errors_of(host));
    }
  }

 private:
  const std::size_t hosts_;
  const std::size_t most_;
  Answers& answers_;
  std::shared_ptr<Replies> replies_;
};

class AskMode final : public CollectMode {
 public:
  AskMode(const RunSpec& run, output::Charset charset, Answers& answers)
      : CollectMode(run.plan.hosts.size(), kMostOfAnswer, answers), run_(run), charset_(charset) {}

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    CollectMode::print_final_report(output, policy, status);
    const std::vector<run::HostOutcome>& outcomes = policy.outcomes();
    std::vector<std::string> lines =
        report::summarize(run_.plan.hosts, outcomes, std::nullopt, policy.interrupted_by(),
                          output::separator(charset_), report::Work::answers);
    // The lines before the last count podrun's own scripts that it stopped.
    if (policy.interrupted_by() && !lines.empty() && std::ranges::none_of(outcomes, run::is_failure))
      lines.erase(lines.begin(), lines.end() - 1);
    for (std::string& line : lines) output.say(std::move(line));
  }

 private:
  const RunSpec& run_;
  const output::Charset charset_;
};

}  // namespace

void Replies::line(const output::Line& line) {
  std::string& text = line.stream == StreamId::out ? texts_[line.host] : errors_[line.host];
  if (text.size() > most_) return;
  text += line.text;
  text += '\n';
}

Answers ask_hosts(Session& session, const RunSpec& run) {
  Answers answers;
  AskMode mode(run, session.charset(), answers);
  answers.result = session.run(run, mode);
  return answers;
}

Answers collect(Session& session, const RunSpec& run) {
  Answers answers;
  CollectMode mode(run.plan.hosts.size(), std::numeric_limits<std::size_t>::max(), answers);
  answers.result = session.run(run, mode);
  return answers;
}

}  // namespace podrun::session
