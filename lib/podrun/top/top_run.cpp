// SPDX-License-Identifier: Apache-2.0
// `podrun top` without a screen: a table, or JSON.
#include "podrun/top/top_run.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include "podrun/top/once_text.hpp"
#include "podrun/top/sample_json.hpp"
#include "podrun/top/sample_mode.hpp"

namespace podrun::top {
namespace {

using Clock = std::chrono::steady_clock;

output::WallTime wall_time() { return std::chrono::system_clock::now(); }

/// The command of hosts that have been sampled.
const supervisor::RemoteCommand kNothing{"set -- true", {}};

/// One table, or one event for each host.
class OnceMode final : public SampleMode {
 public:
  using SampleMode::SampleMode;

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override {
    is_terminal_ = terminal.is_terminal(StreamId::out);
    return SampleMode::make_sinks(terminal);
  }
  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override {
    SampleMode::notice(output, policy, notice);
    const bool is_late = std::holds_alternative<run::notice::Late>(notice);
    if (is_late && is_terminal_ && !run_spec().view.json) print(output);
  }
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    if (!policy.interrupted_by()) print(output);
    SampleMode::print_final_report(output, policy, status);
  }

 private:
  void changed(std::size_t /*host*/) override {}

  void print(output::Output& output) {
    judge();
    if (!run_spec().view.json) {
      for (std::string& line : once_lines(pod(), charset())) output.print(std::move(line));
      return;
    }
    for (std::size_t host = 0; host < pod().rows().size(); ++host) {
      const bool is_up = pod().rows()[host].state == Presence::up;
      output.print(is_up ? sample_event(wall_time(), pod(), host, Clock::now())
                         : state_event(wall_time(), pod(), host));
    }
  }

  bool is_terminal_ = false;
};

/// An event for each frame with rates, and for each change of a host's state.
class StreamMode final : public SampleMode, private session::RunWatch {
 public:
  StreamMode(const session::RunSpec& run, const SampleRequest& request, output::Charset charset)
      : SampleMode(run, request, charset), told_(run.plan.hosts.size(), Presence::waiting) {}

  session::RunWatch* watch() override { return this; }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    if (!policy.interrupted_by()) SampleMode::print_final_report(output, policy, status);
  }

 private:
  /// A host that falls silent sends nothing that would call changed().
  asio::awaitable<void> look(run::FanOut& /*fan_out*/, output::Output& /*output*/) override {
    judge_all();
    co_return;
  }
  void changed(std::size_t host) override {
    judge_sometimes();
    tell_state(host);
    const HostRow& row = pod().rows()[host];
    if (row.state == Presence::up && row.report.before)
      output()->print(sample_event(wall_time(), pod(), host, Clock::now()));
  }
  void tell_state(std::size_t host) {
    const Presence state = pod().rows()[host].state;
    if (std::exchange(told_[host], state) != state) output()->print(state_event(wall_time(), pod(), host));
  }
  void judge_all() {
    judge();
    for (std::size_t host = 0; host < told_.size(); ++host) tell_state(host);
  }
  /// Judging compares all hosts, so with thousands of them not every frame is judged.
  void judge_sometimes() {
    constexpr std::chrono::milliseconds kBetweenJudgments{200};
    if (Clock::now() - judged_at_ < kBetweenJudgments) return;
    judge_all();
    judged_at_ = Clock::now();
  }

  std::vector<Presence> told_;
  Clock::time_point judged_at_ = {};
};

}  // namespace

session::RunSpec top_run(const session::SessionSpec& session, const SampleRequest& request) {
  const bool ends = request.is_once || request.count;
  session::RunSpec run = ends ? session::quick_answers(session, kNothing, std::nullopt)
                              : session::whoever_answers(session, kNothing, std::nullopt);
  run.plan.kind = supervisor::RunKind::watch;
  run.plan.limits.prepares_all_at_once = true;
  run.plan.limits.resumes = !request.is_once;
  if (!ends) {
    run.plan.limits.wait = run::kForever;
    run.plan.limits.grace = run.plan.supervision.grace = std::chrono::seconds(1);
    run.plan.limits.patience = session::kPatience;
  }
  return run;
}

int print_samples(session::Session& session, const session::RunSpec& run, const SampleRequest& request) {
  if (request.is_once) {
    OnceMode mode(run, request, session.charset());
    return session.run(run, mode).status;
  }
  StreamMode mode(run, request, session.charset());
  return session.run(run, mode).status;
}

}  // namespace podrun::top
