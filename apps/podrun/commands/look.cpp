// SPDX-License-Identifier: Apache-2.0
// A run of podrun's own script, whose output is collected for the command that asked instead of being shown.
#include "commands/look.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "podrun/report/summary.hpp"

#include "commands/mode.hpp"
#include "commands/replies.hpp"

namespace podrun::commands {
namespace {

constexpr std::chrono::seconds kGrace{1};
/// Time after that for hosts to report their end.
constexpr std::chrono::milliseconds kReport{1500};

/// Collects what the hosts say.
class LookMode final : public Mode {
 public:
  LookMode(const Plan& plan, output::Charset charset, Look& look)
      : plan_(plan), charset_(charset), look_(look) {}

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& /*terminal*/) override {
    replies_ = std::make_shared<Replies>(plan_.run.hosts.size());
    return {replies_};
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int /*status*/) override {
    look_.outcomes = policy.outcomes();
    look_.is_interrupted = policy.interrupted_by().has_value();
    look_.replies.clear();
    look_.complaints.clear();
    for (std::size_t host = 0; host < plan_.run.hosts.size(); ++host) {
      look_.replies.push_back(replies_->of(host));
      look_.complaints.push_back(replies_->errors_of(host));
    }
    for (std::string& line :
         report::summarize(plan_.run.hosts, policy.outcomes(), std::nullopt, policy.interrupted_by(),
                           output::separator(charset_), report::Work::answers))
      output.say(std::move(line));
  }

  int status(const run::RunPolicy& policy) const override {
    return run::exit_status(policy.outcomes(), policy.interrupted_by());
  }

  std::optional<std::chrono::milliseconds> patience() const override { return kGrace + kReport; }

 private:
  const Plan& plan_;
  const output::Charset charset_;
  Look& look_;
  std::shared_ptr<Replies> replies_;
};

}  // namespace

Plan make_look_plan(const cli::Options& options, const hosts::Probe& probe, remote::RemoteCommand command,
                    std::chrono::seconds time) {
  Plan plan = make_plan(options, probe, std::move(command));
  run_where_reachable(plan);
  plan.run.limits.timeout = time;
  plan.run.limits.grace = kGrace;
  plan.run.supervision.directory.clear();
  return plan;
}

Look look(RunSequence& runs, const Plan& plan, const cli::Context& context) {
  Look look;
  look.status = runs.run(plan, context.options, [&](const Plan& started, output::Charset charset) {
    return std::make_unique<LookMode>(started, charset, look);
  });
  return look;
}

}  // namespace podrun::commands
