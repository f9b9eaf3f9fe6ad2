// SPDX-License-Identifier: Apache-2.0
// Random lives of a command with restarts: hosts, a command and people that do what they like. The rules are
// predicates over all that has happened.
#include <algorithm>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "podrun/restarts/restart_policy.hpp"
#include "podrun/restarts/restart_report.hpp"

#include "unit/restarts/life.hpp"

namespace podrun::restarts {
namespace {

using namespace std::chrono_literals;
using test::kBegin;
using test::Life;
using test::Moment;
using State = HostAfterTry::State;

const event::TryEnded* try_of(const Moment& moment) {
  const auto* ended = std::get_if<event::TryEnded>(&moment.event);
  return ended && ended->ran ? ended : nullptr;
}
bool is_over_for(const Moment& moment, OverReason reason) {
  const auto* over = std::get_if<step::Over>(&moment.step);
  return over && over->reason == reason;
}

/// A try that ended, and the moment at which it was judged.
struct Judged {
  const Moment* end;
  const Moment* moment;

  run::TimePoint::duration ran() const { return *try_of(*end)->ran; }
  bool is_lost() const { return is_loss(moment->cause); }
  bool is_again() const { return std::holds_alternative<step::Prepare>(moment->step); }
};

class Rules {
 public:
  Rules(const RestartLimits& limits, const std::vector<Moment>& moments)
      : limits_(limits), moments_(moments), judged_(find_judged()) {}

  void check() const {
    ends_once();
    for (std::size_t i = 0; i < moments_.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "moment " << i);
      if (std::holds_alternative<step::StartTry>(moments_[i].step)) may_start(i);
      if (const auto* look = std::get_if<step::Survey>(&moments_[i].step)) may_look(i, *look);
      if (const auto* over = std::get_if<step::Over>(&moments_[i].step)) may_end(i, *over);
      EXPECT_EQ(moments_[i].restarts, static_cast<std::size_t>(std::count_if(
                                          judged_.begin(), judged_.end(), [&](const Judged& judged) {
                                            return judged.is_again() && judged.moment <= &moments_[i];
                                          })));
    }
    for (std::size_t i = 0; i < judged_.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "try " << i);
      is_judged_by_evidence(judged_[i]);
      is_counted(i);
      is_delayed(i);
      ends_loops(i);
    }
  }

 private:
  /// A look after which it starts again, or does not for the sake of its tries; once for each try.
  std::vector<Judged> find_judged() const {
    std::vector<Judged> judged;
    const Moment* end = nullptr;
    for (const Moment& moment : moments_) {
      if (try_of(moment)) end = &moment;
      if (!std::holds_alternative<event::Surveyed>(moment.event) || !end) continue;
      if (std::holds_alternative<step::Survey>(moment.step) || is_over_for(moment, OverReason::timed_out) ||
          is_over_for(moment, OverReason::hosts_missing) || is_over_for(moment, OverReason::finished) ||
          is_over_for(moment, OverReason::partly_finished) || is_over_for(moment, OverReason::final_status))
        continue;
      judged.push_back({std::exchange(end, nullptr), &moment});
    }
    return judged;
  }
  /// The last try that has ended before.
  const Moment& last_try(std::size_t moment) const {
    while (!try_of(moments_[moment])) --moment;
    return moments_[moment];
  }

  void ends_once() const {
    for (const Moment& moment : moments_)
      EXPECT_EQ(std::holds_alternative<step::Over>(moment.step), &moment == &moments_.back());
  }
  void may_start(std::size_t i) const {
    const auto* prepared = std::get_if<event::Prepared>(&moments_[i].event);
    EXPECT_TRUE(prepared && prepared->status == 0);
    std::size_t look = i;
    while (!std::holds_alternative<event::Surveyed>(moments_[look].event)) --look;
    for (const HostAfterTry& host : std::get<event::Surveyed>(moments_[look].event).hosts)
      EXPECT_EQ(host.state, State::ready);
    EXPECT_TRUE(!limits_.timeout || moments_[i].at < kBegin + *limits_.timeout);
    EXPECT_TRUE(std::none_of(moments_.begin(), moments_.begin() + static_cast<std::ptrdiff_t>(i),
                             [this](const Moment& before) { return forbids_more(before); }));
    EXPECT_FALSE(have_hosts_forbidden_more(last_try(i), look));
  }
  bool forbids_more(const Moment& moment) const {
    if (std::holds_alternative<event::RestartInterrupted>(moment.event)) return true;
    const event::TryEnded* ended = try_of(moment);
    if (!ended) return false;
    return ended->interrupted_by ||
           std::any_of(ended->outcomes.begin(), ended->outcomes.end(), [](const run::HostOutcome& outcome) {
             return std::holds_alternative<run::TimedOut>(outcome);
           });
  }
  /// A host that is still there has said that the command is done, or not worth another try.
  bool have_hosts_forbidden_more(const Moment& end, std::size_t look) const {
    const auto judged =
        std::find_if(judged_.begin(), judged_.end(), [&](const Judged& each) { return each.end == &end; });
    const std::vector<run::HostOutcome>& outcomes = try_of(end)->outcomes;
    if (judged == judged_.end() || judged->moment > &moments_[look]) return false;
    if (std::all_of(outcomes.begin(), outcomes.end(), run::has_succeeded)) return !judged->is_lost();
    for (std::size_t host = 0; host < outcomes.size(); ++host) {
      const HostAfterTry& after = std::get<event::Surveyed>(judged->moment->event).hosts[host];
      if (after.was_rebooted || after.was_replaced || was_missing(*judged, host)) continue;
      const auto* exited = std::get_if<link::Exited>(&outcomes[host]);
      if (run::has_succeeded(outcomes[host]) ||
          (exited &&
           std::count(limits_.final_statuses.begin(), limits_.final_statuses.end(), exited->status) > 0))
        return true;
    }
    return false;
  }
  void may_look(std::size_t i, const step::Survey& look) const {
    EXPECT_GE(look.at, moments_[i].at);
    EXPECT_LE(look.at, moments_[i].at + 30s);
    EXPECT_TRUE(!limits_.wait_hosts || look.at <= last_try(i).at + *limits_.wait_hosts);
  }
  void may_end(std::size_t i, const step::Over& over) const {
    const Moment& moment = moments_[i];
    SCOPED_TRACE(restarts::identifier(over.reason));
    const auto* interrupted = std::get_if<event::RestartInterrupted>(&moment.event);
    const auto* prepared = std::get_if<event::Prepared>(&moment.event);
    const auto* ended = std::get_if<event::TryEnded>(&moment.event);
    EXPECT_TRUE(!interrupted || over.reason == OverReason::interrupted);
    EXPECT_TRUE(!ended || over.status == ended->status);
    if (over.reason == OverReason::hosts_missing) {
      ASSERT_TRUE(limits_.wait_hosts);
      EXPECT_GE(moment.at - last_try(i).at, *limits_.wait_hosts);
      EXPECT_EQ(over.status, 255);
    } else if (over.reason == OverReason::prepare) {
      EXPECT_TRUE(prepared && prepared->status != 0);
      EXPECT_EQ(over.status, 1);
    } else if (over.reason == OverReason::timed_out) {
      ASSERT_TRUE(limits_.timeout);
      EXPECT_GE(moment.at, kBegin + *limits_.timeout - 5min) << "the longest delay";
      EXPECT_TRUE(ended || over.status == 124);
    } else if (interrupted) {
      EXPECT_EQ(over.status, 128 + interrupted->signal);
    } else if (!ended) {
      const int status = try_of(last_try(i))->status;
      EXPECT_EQ(over.status, over.reason == OverReason::losses && status == 0 ? 255 : status);
    }
  }

  /// A loss, if a host lost its connection, is another or another boot, or did not answer for a minute.
  void is_judged_by_evidence(const Judged& judged) const {
    const event::TryEnded& ended = *try_of(*judged.end);
    bool was_lost = false;
    for (std::size_t host = 0; host < ended.outcomes.size(); ++host) {
      const HostAfterTry& after = std::get<event::Surveyed>(judged.moment->event).hosts[host];
      was_lost = was_lost || after.was_rebooted || after.was_replaced ||
                 std::holds_alternative<run::Lost>(ended.outcomes[host]) || was_missing(judged, host);
    }
    EXPECT_EQ(judged.is_lost(), was_lost) << restarts::identifier(judged.moment->cause);
  }
  bool was_missing(const Judged& judged, std::size_t host) const {
    const auto is_missing = [host](const Moment& moment) {
      return std::get<event::Surveyed>(moment.event).hosts[host].state == State::missing;
    };
    for (const Moment* look = judged.end + 1; look <= judged.moment; ++look) {
      const bool is_long_after = look->at - judged.end->at >= 1min;
      if (is_long_after && std::none_of(judged.end + 1, look + 1, [&](const Moment& other) {
            return !is_missing(other) && look->at - other.at < 1min;
          }))
        return true;
    }
    return false;
  }
  /// Restarts after failures of the command, up to and with this one, since the last try that ran for long.
  std::size_t counted(std::size_t i) const {
    std::size_t count = 0;
    for (std::size_t j = i + 1; j-- > 0;) {
      count += judged_[j].is_again() && !judged_[j].is_lost() ? 1 : 0;
      if (judged_[j].ran() >= limits_.reset) break;
    }
    return count;
  }
  void is_counted(std::size_t i) const {
    EXPECT_LE(counted(i), limits_.restarts);
    EXPECT_EQ(judged_[i].moment->left, limits_.restarts - counted(i));
    EXPECT_TRUE(!judged_[i].is_lost() || i == 0 || judged_[i].moment->left >= judged_[i - 1].moment->left);
    EXPECT_TRUE(!is_over_for(*judged_[i].moment, OverReason::restarts) || counted(i) == limits_.restarts);
  }
  void is_delayed(std::size_t i) const {
    const Judged& judged = judged_[i];
    if (!judged.is_again()) return;
    const run::TimePoint::duration delay =
        judged.is_lost() ? 5s : std::min<std::chrono::seconds>(10s * (1 << (counted(i) - 1)), 5min);
    const run::TimePoint earliest = judged.end->at + delay;
    EXPECT_EQ(std::get<step::Prepare>(judged.moment->step).at, std::max(judged.moment->at, earliest));
    for (const Moment* later = judged.moment; later <= &moments_.back() && !try_of(*later); ++later)
      EXPECT_TRUE(!std::holds_alternative<step::StartTry>(later->step) || later->at >= earliest);
  }
  /// Short tries, and hosts that get lost again and again.
  void ends_loops(std::size_t i) const {
    const Judged& judged = judged_[i];
    const auto is_short = [this](const Judged& of) { return of.ran() < limits_.short_try; };
    const auto first = judged_.begin();
    const auto end = first + static_cast<std::ptrdiff_t>(i) + 1;
    const bool has_worked = !std::all_of(first, end, is_short);
    EXPECT_EQ(is_over_for(*judged.moment, OverReason::first_try), !has_worked && !judged.is_lost());
    std::size_t in_a_row = 0;  // short failures; a host that was lost says nothing of a short try
    for (auto of = end; of != first && is_short(*--of);) in_a_row += of->is_lost() ? 0 : 1;
    const bool has_run_long =
        std::any_of(first, end, [this](const Judged& of) { return of.ran() >= limits_.reset; });
    const std::size_t most = has_run_long ? RestartPolicy::kShortTriesOfProven : RestartPolicy::kShortTries;
    EXPECT_EQ(is_over_for(*judged.moment, OverReason::crash_loop),
              has_worked && !judged.is_lost() && in_a_row >= most);
    const auto losses = static_cast<std::size_t>(std::count_if(first, end, [&](const Judged& of) {
      return of.is_lost() && of.moment->at > judged.moment->at - RestartPolicy::kOfLosses;
    }));
    EXPECT_EQ(is_over_for(*judged.moment, OverReason::losses),
              judged.is_lost() && losses >= RestartPolicy::kLosses);
  }

  const RestartLimits& limits_;
  const std::vector<Moment>& moments_;
  std::vector<Judged> judged_;
};

TEST(RestartPolicyProperty, HoldsInAnyLife) {
  std::set<OverReason> reasons;
  for (unsigned seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Life life(seed);
    const std::vector<Moment> moments = life.live();
    Rules(life.limits(), moments).check();
    if (const auto* over = std::get_if<step::Over>(&moments.back().step)) reasons.insert(over->reason);
  }
  EXPECT_EQ(reasons.size(), static_cast<std::size_t>(OverReason::timed_out) + 1) << "each one is seen";
}

}  // namespace
}  // namespace podrun::restarts
