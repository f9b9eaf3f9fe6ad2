// SPDX-License-Identifier: Apache-2.0
// Whether a command starts again: the end of a try, what the hosts are found to be after it, and how often
// that has happened. A failure that is seen first often comes from a healthy host, seconds before podrun can
// know which one is gone; so the cause is judged when every host has answered.
#include "podrun/restarts/restart_policy.hpp"

#include <algorithm>

namespace podrun::restarts {
namespace {

constexpr int kTimedOutStatus = 124;
constexpr int kMissingStatus = 255;
constexpr int kPrepareStatus = 1;
constexpr int kSignalStatus = 128;
constexpr int kAskAgain = 75;  // EX_TEMPFAIL, sysexits(3)

/// Between two surveys of the hosts, at first and after a minute.
constexpr std::chrono::seconds kSoon{5};
constexpr std::chrono::seconds kLater{15};
constexpr std::chrono::minutes kMinute{1};
constexpr std::chrono::seconds kAfterFailedStart{30};
/// Before it starts again after the loss of a host, and after a failure of the command; the latter doubles
/// for each further one in a row.
constexpr std::chrono::seconds kAfterLoss{5};
constexpr std::chrono::seconds kAfterFailure{10};
constexpr std::chrono::seconds kLongestDelay{300};

std::optional<int> exit_status_of(const run::HostOutcome& outcome) {
  const auto* exited = std::get_if<link::Exited>(&outcome);
  return exited ? std::optional(exited->status) : std::nullopt;
}

bool have_all_succeeded(const std::vector<run::HostOutcome>& outcomes) {
  return !outcomes.empty() && std::all_of(outcomes.begin(), outcomes.end(), run::has_succeeded);
}

/// As shells have it. 255 is exit(-1).
bool is_signal(const run::HostOutcome& outcome) {
  constexpr int kLastSignal = 64;
  const int status = exit_status_of(outcome).value_or(0);
  return std::holds_alternative<link::Signaled>(outcome) ||
         (status > kSignalStatus && status <= kSignalStatus + kLastSignal);
}

}  // namespace

std::vector<std::size_t> stalled_hosts(const StallLimits& limits, const std::vector<HostSilence>& hosts,
                                       run::TimePoint started, run::TimePoint now) {
  std::vector<std::size_t> all;
  if (now - started < limits.first) return {};
  if (!limits.all) return {};
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (!hosts[host].runs) continue;
    if (!hosts[host].is_known) return {};
    const run::TimePoint::duration silent = now - hosts[host].last.value_or(started);
    if (silent < *limits.all) return {};
    all.push_back(host);
  }
  return all;
}

bool is_out_of_memory(const run::HostOutcome& outcome, const HostAfterTry& after) {
  constexpr int kKilled = kSignalStatus + 9;
  return after.ran_out_of_memory && host_number(outcome) == kKilled;
}

RestartStep RestartPolicy::on(const RestartEvent& event, run::TimePoint now) {
  now_ = now;
  return std::visit([this](const auto& what) { return handle(what); }, event);
}

bool RestartPolicy::is_late(run::TimePoint now) const {
  return limits_.timeout && now >= begun_at_ + *limits_.timeout;
}

std::optional<std::chrono::milliseconds> RestartPolicy::time_left(run::TimePoint now) const {
  if (!limits_.timeout) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::seconds>(begun_at_ + *limits_.timeout - now);
  return std::min<std::chrono::milliseconds>(std::max(left, std::chrono::seconds(1)), *limits_.timeout);
}

std::optional<run::TimePoint> RestartPolicy::waits_until() const {
  return limits_.wait_hosts ? std::optional(waits_since_ + *limits_.wait_hosts) : std::nullopt;
}

std::optional<step::Over> RestartPolicy::end_of(const event::TryEnded& ended, run::TimePoint now) const {
  const auto over = [&](OverReason reason) { return step::Over{reason, ended.status}; };
  const auto any = [&](auto is) { return std::any_of(ended.outcomes.begin(), ended.outcomes.end(), is); };
  if (ended.interrupted_by) return over(OverReason::interrupted);
  const bool is_finished = have_all_succeeded(ended.outcomes);
  if (is_finished && !limits_.allowed) return over(OverReason::finished);
  if (is_finished) return std::nullopt;
  if (is_late(now) ||
      any([](const run::HostOutcome& outcome) { return std::holds_alternative<run::TimedOut>(outcome); }))
    return over(OverReason::timed_out);
  if (!limits_.allowed) return over(OverReason::restarts);
  if (!ended.ran) {  // a host failed after the last survey; before the first try it is as any run
    if (restarts_ == 0) return over(OverReason::first_try);
    const std::optional<run::TimePoint> until = waits_until();
    return until && now >= *until ? std::optional(over(OverReason::hosts_missing)) : std::nullopt;
  }
  return std::nullopt;
}

/// By what the hosts that are still there have said: a host that was rebooted or replaced, or is gone, may
/// have saved its work and ended with any status.
std::optional<step::Over> RestartPolicy::end_said_by_hosts(const std::vector<HostAfterTry>& hosts) const {
  const auto over = [&](OverReason reason) { return step::Over{reason, ended_.status}; };
  if (have_all_succeeded(ended_.outcomes)) return std::nullopt;  // and a host is lost
  bool has_final = false;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (is_gone(hosts[host])) continue;
    const std::vector<int>& statuses = limits_.final_statuses;
    const std::optional<int> status = exit_status_of(ended_.outcomes[host]);
    if (status == 0) return over(OverReason::partly_finished);
    has_final =
        has_final || (status && std::find(statuses.begin(), statuses.end(), *status) != statuses.end());
  }
  return has_final ? std::optional(over(OverReason::final_status)) : std::nullopt;
}

RestartStep RestartPolicy::handle(const event::TryEnded& ended) {
  if (auto over = end_of(ended, now_)) return *over;
  if (!ended.ran) {  // no try: podrun waits for the hosts as before the start
    ended_.status = ended.status;
    return survey(std::min(now_ + kAfterFailedStart, waits_until().value_or(run::TimePoint::max())), false);
  }
  ended_ = ended;
  ended_at_ = waits_since_ = now_;
  answered_at_.assign(ended.outcomes.size(), now_);
  missing_.clear();
  decided_ = false;
  return survey(now_, have_all_succeeded(ended.outcomes));
}

RestartStep RestartPolicy::handle(const event::Surveyed& surveyed) {
  using State = HostAfterTry::State;
  note_missing(surveyed.hosts);
  const bool is_finished = have_all_succeeded(ended_.outcomes) && !decided_;
  if (is_finished && std::none_of(surveyed.hosts.begin(), surveyed.hosts.end(), is_gone))
    return step::Over{OverReason::finished, ended_.status};
  if (is_late(now_)) return step::Over{OverReason::timed_out, kTimedOutStatus};
  const auto is_new = [](const HostAfterTry& host) { return host.was_rebooted || host.was_replaced; };
  const bool is_lost = std::any_of(surveyed.hosts.begin(), surveyed.hosts.end(), is_new);
  const auto is_ready = [](const HostAfterTry& host) { return host.state == State::ready; };
  if (!std::all_of(surveyed.hosts.begin(), surveyed.hosts.end(), is_ready)) {
    const std::optional<run::TimePoint> until = waits_until();
    if (until && now_ >= *until) return step::Over{OverReason::hosts_missing, kMissingStatus};
    const run::TimePoint next = now_ + (now_ - waits_since_ < kMinute ? kSoon : kLater);
    return survey(until ? std::min(next, *until) : next, is_finished && !is_lost);
  }
  if (decided_) return step::Prepare{now_};  // the start failed after the decision
  if (stopped_nothing_) return survey(now_, false);
  if (const auto over = end_said_by_hosts(surveyed.hosts)) return *over;
  return decide(judge(surveyed.hosts));
}

step::Survey RestartPolicy::survey(run::TimePoint at, bool stops_nothing) {
  stopped_nothing_ = stops_nothing;
  return {at, stops_nothing};
}

void RestartPolicy::note_missing(const std::vector<HostAfterTry>& hosts) {
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (hosts[host].state != HostAfterTry::State::missing) {
      answered_at_[host] = now_;
    } else if (now_ - answered_at_[host] >= kMinute &&
               std::find(missing_.begin(), missing_.end(), host) == missing_.end()) {
      missing_.push_back(host);
    }
  }
}

RestartCause RestartPolicy::judge(const std::vector<HostAfterTry>& hosts) const {
  const auto any = [&](bool HostAfterTry::*what) {
    return std::any_of(hosts.begin(), hosts.end(), [what](const HostAfterTry& host) { return host.*what; });
  };
  const std::vector<run::HostOutcome>& outcomes = ended_.outcomes;
  if (any(&HostAfterTry::was_replaced)) return RestartCause::replaced;
  if (any(&HostAfterTry::was_rebooted)) return RestartCause::rebooted;
  const auto is_lost = [](const run::HostOutcome& outcome) {
    return std::holds_alternative<run::Lost>(outcome) || std::holds_alternative<run::Unreachable>(outcome);
  };
  if (!missing_.empty() || std::any_of(outcomes.begin(), outcomes.end(), is_lost)) return RestartCause::lost;
  if (ended_.has_stalled) return RestartCause::stalled;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (is_out_of_memory(outcomes[host], hosts[host])) return RestartCause::oom;
  }
  return std::any_of(outcomes.begin(), outcomes.end(), is_signal) ? RestartCause::signal : RestartCause::exit;
}

/// Counts the try.
RestartStep RestartPolicy::decide(RestartCause cause) {
  const run::TimePoint::duration ran = ended_.ran.value_or(run::TimePoint::duration::zero());
  const bool is_short = ran < limits_.short_try;
  const bool is_first = !has_worked_;
  cause_ = cause;
  has_worked_ = has_worked_ || !is_short;
  has_run_long_ = has_run_long_ || ran >= limits_.reset;
  if (ran >= limits_.reset) failures_ = 0;
  run::TimePoint::duration delay = kAfterLoss;
  if (is_loss(cause)) {
    if (!is_short) short_tries_ = 0;
    losses_.push_back(now_);
    while (losses_.front() <= now_ - kOfLosses) losses_.pop_front();
    if (losses_.size() >= kLosses)
      return step::Over{OverReason::losses, ended_.status == 0 ? kMissingStatus : ended_.status};
  } else {
    if (is_short && is_first) return step::Over{OverReason::first_try, ended_.status};
    short_tries_ = is_short ? short_tries_ + 1 : 0;
    if (short_tries_ >= most_short_tries()) return step::Over{OverReason::crash_loop, ended_.status};
    if (failures_ >= limits_.restarts) return step::Over{OverReason::restarts, ended_.status};
    constexpr std::size_t kDoubled = 5;  // more than kLongestDelay
    delay = std::min(kAfterFailure * (1 << std::min(failures_, kDoubled)), kLongestDelay);
    if (is_late(ended_at_ + delay)) return step::Over{OverReason::timed_out, kTimedOutStatus};
    ++failures_;
  }
  ++restarts_;
  decided_ = true;
  return step::Prepare{std::max(now_, ended_at_ + delay)};
}

RestartStep RestartPolicy::handle(const event::Prepared& prepared) {
  if (is_late(now_)) return step::Over{OverReason::timed_out, kTimedOutStatus};
  if (prepared.status == 0) return step::StartTry{};
  if (prepared.status != kAskAgain) return step::Over{OverReason::prepare, kPrepareStatus};
  const std::optional<run::TimePoint> until = waits_until();
  if (until && now_ + kMinute > *until) return step::Over{OverReason::prepare, kPrepareStatus};
  return step::Prepare{now_ + kMinute};
}

RestartStep RestartPolicy::handle(const event::RestartInterrupted& interrupted) {
  return step::Over{OverReason::interrupted, kSignalStatus + interrupted.signal};
}

}  // namespace podrun::restarts
