// SPDX-License-Identifier: Apache-2.0
// The run of `podrun check`: check.sh on every host that can be reached, compared with the clock of this
// machine and with each other.
#include "podrun/check/check_run.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "podrun/check/check_reply.hpp"
#include "podrun/check/scripts.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/session/ask_hosts.hpp"

namespace podrun::check {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

/// The moment when a host reported its clock.
struct ClockReport {
  std::chrono::system_clock::time_point by_our_clock;
  Clock::time_point received;
};

/// Takes the last report of a host, which is the script's: what a start-up file prints comes before.
class TimedReplies final : public session::Replies {
 public:
  explicit TimedReplies(std::size_t hosts) : Replies(hosts), clocks_(hosts) {}

  void line(const output::Line& line) override {
    if (line.stream == StreamId::out && line.text.starts_with("time ")) {
      const std::scoped_lock lock(mutex_);
      clocks_[line.host] = ClockReport{std::chrono::system_clock::now(), Clock::now()};
    }
    Replies::line(line);
  }

  std::optional<ClockReport> clock_of(std::size_t host) const {
    const std::scoped_lock lock(mutex_);
    return clocks_[host];
  }

 private:
  std::vector<std::optional<ClockReport>> clocks_;
};

class CheckMode final : public session::Mode {
 public:
  CheckMode(const session::RunSpec& run, const CheckRequest& request, const session::Session& session)
      : run_(run), request_(request), session_(session), started_(run.plan.hosts.size()) {}

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override {
    is_terminal_ = terminal.is_terminal(StreamId::out);
    replies_ = std::make_shared<TimedReplies>(run_.plan.hosts.size());
    return {replies_};
  }

  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override {
    if (const auto* started = std::get_if<run::notice::Started>(&notice))
      started_[started->host] = Clock::now();
    const auto* late = std::get_if<run::notice::Late>(&notice);
    if (!late || !is_terminal_ || run_.view.json) return;
    std::vector<run::HostOutcome> outcomes = policy.outcomes();
    for (const std::size_t host : late->hosts) outcomes[host] = run::NotStarted{};
    print_report(output, outcomes);
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int /*status*/) override {
    const std::vector<run::HostOutcome>& outcomes = policy.outcomes();
    const bool has_answers = std::ranges::any_of(outcomes, run::has_succeeded);
    if (has_answers || !policy.interrupted_by()) print_report(output, outcomes);
    if (!policy.interrupted_by()) return;
    for (std::string& line : report::summarize(run_.plan.hosts, outcomes, {}, policy.interrupted_by(),
                                               output::separator(session_.charset())))
      output.say(std::move(line));
  }

  int status(const run::RunPolicy& policy) const override {
    if (policy.interrupted_by()) return 128 + *policy.interrupted_by();
    return well_ ? 0 : 1;
  }

 private:
  /// After an interrupt, and while late hosts are asked: of the hosts that have answered so far.
  void print_report(output::Output& output, const std::vector<run::HostOutcome>& outcomes) {
    const std::vector<hosts::Host>& hosts = run_.plan.hosts;
    std::vector<CheckedHost> checked;
    for (std::size_t host = 0; host < hosts.size(); ++host)
      checked.push_back(checked_host(host, outcomes[host]));
    const CheckReport report = compare_hosts(checked, request_, session_.spec().called);
    well_ = report.is_well();
    if (run_.view.json) {
      output.print(check_json(std::chrono::system_clock::now(), hosts, checked, report));
      return;
    }
    for (std::string& line :
         describe_check(hosts, report, output::separator(session_.charset()), session_.spec().called))
      output.print(std::move(line));
  }

  CheckedHost checked_host(std::size_t host, const run::HostOutcome& outcome) const {
    CheckedHost checked{outcome, parse_check_reply(replies_->of(host), run_.plan.run_id)};
    if (const std::optional<ClockReport> clock = replies_->clock_of(host)) {
      const auto received = std::chrono::floor<microseconds>(clock->by_our_clock.time_since_epoch());
      const auto round_trip = std::chrono::ceil<microseconds>(clock->received - started_[host]);
      checked.clock = clock_offset(checked.facts, received, round_trip);
    }
    return checked;
  }

  const session::RunSpec& run_;
  const CheckRequest& request_;
  const session::Session& session_;
  std::vector<Clock::time_point> started_;
  std::shared_ptr<TimedReplies> replies_;
  bool well_ = false;
  bool is_terminal_ = false;
};

}  // namespace

session::RunSpec check_run(const session::SessionSpec& session, const CheckRequest& request) {
  const std::string python = request.python.empty() ? "python3" : request.python;
  supervisor::Command script = supervisor::script_command(
      kCheckScript, CheckWords{.python = python, .directory = request.directory}.list());
  session::RunSpec run = session::quick_answers(session, supervisor::build_command(script), kTimeout);
  run.command = std::move(script);
  return run;
}

int run_check(session::Session& session, const session::RunSpec& run, const CheckRequest& request) {
  CheckMode mode(run, request, session);
  return session.run(run, mode).status;
}

}  // namespace podrun::check
