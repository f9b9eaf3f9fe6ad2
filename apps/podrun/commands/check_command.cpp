// SPDX-License-Identifier: Apache-2.0
// `podrun check`: runs check.sh on every host that can be reached, and prints what its report says.
#include "commands/check_command.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "podrun/check/check_reply.hpp"
#include "podrun/check/check_report.hpp"
#include "podrun/check/check_text.hpp"
#include "podrun/remote/scripts.hpp"
#include "podrun/report/summary.hpp"

#include "cli/option_values.hpp"
#include "cli/run_options.hpp"
#include "commands/mode.hpp"
#include "commands/plan.hpp"
#include "commands/replies.hpp"
#include "commands/run_sequence.hpp"

namespace podrun::commands {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

/// For a host to answer; each part of the script has less.
constexpr std::chrono::seconds kTimeout{60};
/// There is nothing to save: a second Ctrl-C need not wait.
constexpr std::chrono::seconds kGrace{1};
/// Time after that for hosts to report their end, so that what the others said is shown.
constexpr std::chrono::milliseconds kReport{1500};

/// The moment when a host reported its clock.
struct ClockReport {
  std::chrono::system_clock::time_point by_our_clock;
  Clock::time_point received;
};

/// Takes the last report of a host, which is the script's: what a start-up file prints comes before.
class TimedReplies final : public Replies {
 public:
  explicit TimedReplies(std::size_t hosts) : Replies(hosts), clocks_(hosts) {}

  void line(const output::Line& line) override {
    if (line.stream == StreamId::out && line.text.starts_with("clock "))
      clocks_[line.host] = ClockReport{std::chrono::system_clock::now(), Clock::now()};
    Replies::line(line);
  }

  const std::optional<ClockReport>& clock_of(std::size_t host) const { return clocks_[host]; }

 private:
  std::vector<std::optional<ClockReport>> clocks_;
};

/// The options of `podrun check` alone.
struct CheckOptions {
  check::CheckRequest request;
  std::optional<std::chrono::seconds> wait;
};

class CheckMode final : public Mode {
 public:
  CheckMode(const Plan& plan, const cli::Options& options, const CheckOptions& own, output::Charset charset)
      : plan_(plan), options_(options), own_(own), charset_(charset), started_(plan.run.hosts.size()) {}

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& /*terminal*/) override {
    replies_ = std::make_shared<TimedReplies>(plan_.run.hosts.size());
    return {replies_};
  }

  void host_started(output::Output& /*output*/, std::size_t host) override { started_[host] = Clock::now(); }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int /*status*/) override {
    const std::vector<run::HostOutcome>& outcomes = policy.outcomes();
    const bool has_answers = std::any_of(outcomes.begin(), outcomes.end(), run::has_succeeded);
    if (has_answers || !policy.interrupted_by()) print_report(output, policy);
    if (!policy.interrupted_by()) return;
    for (std::string& line : report::summarize(plan_.run.hosts, outcomes, {}, policy.interrupted_by(),
                                               output::separator(charset_)))
      output.say(std::move(line));
  }

  int status(const run::RunPolicy& policy) const override {
    if (policy.interrupted_by()) return 128 + *policy.interrupted_by();
    return well_ ? 0 : 1;
  }

  std::optional<std::chrono::milliseconds> patience() const override { return kGrace + kReport; }

 private:
  /// After an interrupt: of the hosts that have answered so far.
  void print_report(output::Output& output, const run::RunPolicy& policy) {
    const std::vector<hosts::Host>& hosts = plan_.run.hosts;
    std::vector<check::CheckedHost> checked;
    for (std::size_t host = 0; host < hosts.size(); ++host)
      checked.push_back(check(host, policy.outcomes()[host]));
    const check::CheckReport report = check::compare_hosts(checked, own_.request);
    well_ = report.is_well();
    if (options_.json) {
      output.print(check::check_json(std::chrono::system_clock::now(), hosts, checked, report));
      return;
    }
    for (std::string& line : check::describe_check(hosts, report, output::separator(charset_)))
      output.print(std::move(line));
  }

  check::CheckedHost check(std::size_t host, const run::HostOutcome& outcome) const {
    check::CheckedHost checked{outcome, check::parse_check_reply(replies_->of(host), plan_.run.run_id)};
    if (const std::optional<ClockReport>& clock = replies_->clock_of(host)) {
      const auto received = std::chrono::floor<microseconds>(clock->by_our_clock.time_since_epoch());
      const auto round_trip = std::chrono::ceil<microseconds>(clock->received - started_[host]);
      checked.clock = check::clock_offset(checked.facts, received, round_trip);
    }
    return checked;
  }

  const Plan& plan_;
  const cli::Options& options_;
  const CheckOptions& own_;
  const output::Charset charset_;
  std::vector<Clock::time_point> started_;
  std::shared_ptr<TimedReplies> replies_;
  bool well_ = false;
};

/// A run of check.sh on every host that can be reached.
Plan make_check_plan(const CheckOptions& own, const cli::Options& options, const hosts::Probe& probe) {
  const std::string python = own.request.python.empty() ? "python3" : own.request.python;
  Plan plan = make_plan_in_surroundings(
      options, probe, remote::script_command(check::kCheckScript, {python, own.request.directory}));
  run_where_reachable(plan);
  run::Limits& limits = plan.run.limits;
  limits.wait = own.wait;
  if (!limits.timeout) limits.timeout = kTimeout;
  limits.grace = kGrace;
  return plan;
}

class CheckCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const std::string_view topic = "podrun check";
    table.value({.topic = topic,
                 .set = cli::OptionSet::own,
                 .names = "--wait",
                 .help = "Wait until every host is up, for at most TIME",
                 .type = "TIME"},
                [this](const std::string& text) { own_.wait = cli::parse_positive_duration(text); });
    std::string& directory = own_.request.directory;
    table.value({.topic = topic,
                 .set = cli::OptionSet::own,
                 .names = "--dir",
                 .help = "Compare the git commit in this directory too",
                 .type = "DIR"},
                [&directory](const std::string& text) {
                  if (!directory.empty()) throw UsageError("given twice (one directory only)");
                  cli::not_empty(directory, "a directory of the hosts")(text);
                });
    table.value({.topic = topic,
                 .set = cli::OptionSet::own,
                 .names = "--python",
                 .help = "Compare the packages of this python (python3)",
                 .type = "PATH"},
                cli::not_empty(own_.request.python, "a python of the hosts"));
  }

  int run(const cli::Context& context) override {
    return start_plan(make_check_plan(own_, context.options, context.probe), context,
                      [&](const Plan& plan, output::Charset charset) {
                        return std::make_unique<CheckMode>(plan, context.options, own_, charset);
                      });
  }

 private:
  CheckOptions own_;
};

}  // namespace

std::unique_ptr<cli::Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace podrun::commands
