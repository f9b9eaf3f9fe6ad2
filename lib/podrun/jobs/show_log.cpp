// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/show_log.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "podrun/jobs/job_failures.hpp"
#include "podrun/jobs/log_follow.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/session/command_mode.hpp"

namespace podrun::jobs {
namespace {

/// The longest pause between two looks of a host for new output, see logs.sh. Equal lines of two hosts may
/// come so far apart.
constexpr std::chrono::milliseconds kLongestPause{800};

/// The command of each host after LogFollow::prepare(): exits with the job's status if the job was followed,
/// else with 0.
supervisor::RemoteCommand exit_as_the_job() {
  return {"set -- /bin/sh \"$podrun_dir\"/podrun.end", {{"podrun.end", "exit 0\n"}}};
}

class LogMode final : public session::CommandMode,
                      private session::HostPreparation,
                      private session::RunWatch {
 public:
  LogMode(const session::RunSpec& run, const session::Session& session, LogFollow& follow)
      : CommandMode(run, session), follow_(follow) {}

  void begin(output::Output& output) override {
    CommandMode::begin(output);
    output.start();
  }
  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override {
    const auto* const later = std::get_if<run::notice::AttemptLater>(&notice);
    if (later && later->attempt == 2 && follow_.hosts()[later->host].heard_at != run::TimePoint{})
      broken_[later->host] = run::Lost{later->failure};
    const auto* const ended = std::get_if<run::notice::HostEnded>(&notice);
    if (ended && run::failure_of(policy.outcomes()[ended->host]))
      refused_[ended->host] = policy.outcomes()[ended->host];
    CommandMode::notice(output, policy, notice);
  }
  session::HostPreparation* preparation() override { return this; }
  session::RunWatch* watch() override { return follow_.request().follow ? this : nullptr; }
  int status(const run::RunPolicy& policy) const override {
    constexpr int kTimedOut = 124;
    return is_late(policy) ? kTimedOut : CommandMode::status(policy);
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    say_of(output, &FollowedHost::has_gap, "some of the output is no longer there");
    say_of(output, &FollowedHost::is_open,
           "the job has ended, and processes that it left have its output open: not waiting for them");
    say_lost(output);
    if (is_late(policy)) {
      output.say(
          fmt::format("podrun: {} has not ended within {}{}", follow_.request().name,
                      format_duration(follow_.request().time_limit.value_or(std::chrono::milliseconds(0))),
                      is_kept() ? "" : " on " + output::fold_hosts(run_spec().plan.hosts, not_ended())));
      if (json()) json()->end(output, policy, status);
      return;
    }
    if (policy.interrupted_by()) {
      if (json()) json()->end(output, policy, status);
      if (const auto hosts = not_ended(); follow_.request().follow && !hosts.empty())
        output.say(fmt::format("podrun: {0} goes on ({1} logs -f {0} follows it, {1} stop {0} stops it)",
                               follow_.request().name, called()));
      return;
    }
    if (is_kept() && follow_.request().is_silent && status != 0) {
      if (json()) json()->end(output, policy, status);
      output.say(fmt::format("podrun: {0}: {1} ({2} logs -n 20 {0} shows its end)", follow_.request().name,
                             report::describe(policy.outcomes().front()), called()));
      return;
    }
    CommandMode::print_final_report(output, policy, status);
  }

 private:
  bool is_kept() const { return !run_spec().shown.empty(); }
  void begin_pass(output::Output& output) override { output_ = &output; }
  asio::awaitable<void> look(run::FanOut& fan_out, output::Output& output) override {
    tell_first_failure(output);
    tell_connections(output);
    const std::optional<run::TimePoint>& until = follow_.request().gives_up_at;
    if (until && std::chrono::steady_clock::now() >= *until) fan_out.interrupt(kSignalOfLimit);
    co_return;
  }
  /// Once, after a look's time: where the job has ended everywhere, podrun has seen that by then.
  void tell_first_failure(output::Output& output) {
    if (!failed_first_ || std::exchange(is_failure_told_, true)) return;
    const std::vector<std::size_t> others = not_ended();
    if (others.empty()) return;
    const FollowedHost& first = follow_.hosts()[*failed_first_];
    const run::HostOutcome ended = link::Exited{first.exit_status.value_or(0)};
    output.say(fmt::format("podrun: [{}] {}; {} still runs on {}",
                           run_spec().plan.hosts[*failed_first_].worker,
                           first.lost.empty() ? report::describe(ended) : first.lost, follow_.request().name,
                           output::fold_hosts(run_spec().plan.hosts, others)));
  }
  /// Hosts of one second share a line. Those that will not come back are in the final report, which may be
  /// hours away.
  void tell_connections(output::Output& output) {
    const std::vector<hosts::Host>& hosts = run_spec().plan.hosts;
    for (const std::string& line : report::describe_failures(hosts, std::exchange(broken_, none())))
      output.say(line + "; connecting again");
    std::size_t refused = 0;
    for (const run::HostOutcome& outcome : refused_) refused += run::failure_of(outcome) ? 1 : 0;
    const std::vector<run::HostOutcome> told = std::exchange(refused_, none());
    told_refused_ += refused;
    if (told_refused_ >= not_ended().size()) return;  // the final report comes at once
    for (std::string& line : report::describe_failures(hosts, told)) output.say(std::move(line));
  }
  std::vector<run::HostOutcome> none() const {
    return std::vector<run::HostOutcome>(run_spec().plan.hosts.size());
  }
  static bool is_late(const run::RunPolicy& policy) { return policy.interrupted_by() == kSignalOfLimit; }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) override {
    co_await follow_.prepare(host, supervised, *output_);
    const int status = follow_.hosts()[host].exit_status.value_or(0);
    if (status != 0 && !failed_first_) failed_first_ = host;
    output_->end(host);
  }
  /// A host is connected and not ready while it is followed: to a reader the job runs there, or has ended.
  void complete(run::Status& status) const override {
    if (!follow_.request().follow) return;
    for (std::size_t host = 0; host < status.hosts.size(); ++host) {
      const FollowedHost& followed = follow_.hosts()[host];
      run::HostStatus& shown = status.hosts[host];
      status.bytes += followed.bytes;
      if (followed.exit_status && shown.state != run::RunPolicy::State::done) {
        shown.state = run::RunPolicy::State::done;
        shown.exit_status = followed.exit_status;
        shown.failed = *followed.exit_status != 0;
      } else if (shown.state == run::RunPolicy::State::connecting && shown.stage == kJobLog) {
        shown.state = run::RunPolicy::State::running;
        if (follow_.request().is_silent)
          shown.since = std::chrono::steady_clock::now();
        else if (followed.heard_at != run::TimePoint{})
          shown.since = followed.heard_at;
      }
    }
  }
  link::Stage stage() const override { return kJobLog; }

  /// The hosts on which the job is not known to have ended.
  std::vector<std::size_t> not_ended() const {
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < follow_.hosts().size(); ++host) {
      if (!follow_.hosts()[host].exit_status) hosts.push_back(host);
    }
    return hosts;
  }
  void say_of(output::Output& output, bool FollowedHost::*is_so, std::string_view what) const {
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < follow_.hosts().size(); ++host) {
      if (follow_.hosts()[host].*is_so) hosts.push_back(host);
    }
    if (!hosts.empty())
      output.say(fmt::format("podrun: {} {}", output::fold_hosts(run_spec().plan.hosts, hosts), what));
  }

  void say_lost(output::Output& output) const {
    std::map<std::string, std::vector<std::size_t>> hosts;
    for (std::size_t host = 0; host < follow_.hosts().size(); ++host) {
      if (const std::string& how = follow_.hosts()[host].lost; !how.empty()) hosts[how].push_back(host);
    }
    for (const auto& [how, where] : hosts)
      output.say(fmt::format("podrun: {}{}: the exit status of {} is not known (255 stands for it)",
                             is_kept() ? "" : output::fold_hosts(run_spec().plan.hosts, where) + ' ', how,
                             follow_.request().name));
  }

  LogFollow& follow_;
  output::Output* output_ = nullptr;
  std::optional<std::size_t> failed_first_ = std::nullopt;
  bool is_failure_told_ = false;
  std::vector<run::HostOutcome> broken_ = none();   ///< connections, since the last look
  std::vector<run::HostOutcome> refused_ = none();  ///< hosts that are given up, since the last look
  std::size_t told_refused_ = 0;
};

}  // namespace

session::RunResult show_log(session::Session& session, session::RunSpec run,
                            const std::vector<std::size_t>& hosts, LogRequest request) {
  run = session::with_hosts(std::move(run), hosts);
  run.plan.limits.timeout.reset();
  run.plan.limits.late_after.reset();  // following a log, hosts are on their way until the job ends
  run.plan.limits.prepares_all_at_once = true;
  run.plan.limits.resumes = true;
  run.reports_first_failures = true;
  run.name_of_job = request.name;
  if (request.follow) run.view.dedup_limits.window += kLongestPause;
  const std::optional<KeptLog> kept = show_as_kept(session, request, run);
  run.plan.command = exit_as_the_job();
  LogFollow follow(std::move(request), run.plan.hosts, kept ? &*kept : nullptr);
  LogMode mode(run, session, follow);
  return session.run(run, mode);
}

}  // namespace podrun::jobs
