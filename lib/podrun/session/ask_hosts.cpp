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

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override {
    is_terminal_ = terminal.is_terminal(StreamId::out);
    replies_ = std::make_shared<Replies>(hosts_, most_);
    return {replies_};
  }

  void print_final_report(output::Output& /*output*/, const run::RunPolicy& /*policy*/,
                          int /*status*/) override {
    take_replies(answers_);
  }

 protected:
  void take_replies(Answers& answers) const {
    for (std::size_t host = 0; host < hosts_; ++host) {
      answers.texts.push_back(replies_->of(host));
      answers.errors.push_back(replies_->errors_of(host));
    }
  }
  bool is_terminal() const { return is_terminal_; }
  Answers& answers() { return answers_; }

 private:
  const std::size_t hosts_;
  const std::size_t most_;
  Answers& answers_;
  std::shared_ptr<Replies> replies_;
  bool is_terminal_ = false;
};

class AskMode final : public CollectMode {
 public:
  AskMode(const RunSpec& run, output::Charset charset, const ShowAnswers& show, Answers& answers)
      : CollectMode(run.plan.hosts.size(), kMostOfAnswer, answers),
        run_(run),
        charset_(charset),
        show_(show) {}

  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override {
    const auto* late = std::get_if<run::notice::Late>(&notice);
    if (!late || !show_ || !is_terminal()) return;
    Answers so_far;
    take_replies(so_far);
    so_far.result.outcomes = policy.outcomes();
    for (const std::size_t host : late->hosts) so_far.result.outcomes[host] = run::NotStarted{};
    std::string text = show_(so_far);
    if (text.empty() || text == answers().shown) return;
    answers().shown = text;
    text.pop_back();  // print() ends the line
    output.print(std::move(text));
  }

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
  const ShowAnswers& show_;
};

}  // namespace

void Replies::line(const output::Line& line) {
  const std::scoped_lock lock(mutex_);
  std::string& text = line.stream == StreamId::out ? texts_[line.host] : errors_[line.host];
  if (text.size() > most_) return;
  text += line.text;
  text += '\n';
}

Answers ask_hosts(Session& session, const RunSpec& run, const ShowAnswers& show) {
  Answers answers;
  AskMode mode(run, session.charset(), show, answers);
  answers.result = session.run(run, mode);
  return answers;
}

int show_answers(Session& session, const Answers& answers, const std::string& text) {
  return text.empty() || text == answers.shown ? 0 : session.answer(text);
}

Answers collect(Session& session, const RunSpec& run) {
  Answers answers;
  CollectMode mode(run.plan.hosts.size(), std::numeric_limits<std::size_t>::max(), answers);
  answers.result = session.run(run, mode);
  return answers;
}

}  // namespace podrun::session
