// SPDX-License-Identifier: Apache-2.0
// Random pushes in a model of a pod: networks, hosts and relays that fail as they like. The rules are checked
// with each action, and at the end.
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/transfer/spread/spread_plan.hpp"

#include "unit/transfer/spread_pod.hpp"
#include "unit/transfer/spread_rules.hpp"

namespace podrun::transfer {
namespace {

using namespace std::chrono_literals;
using test::kMiB;
using test::Network;
using test::SpreadPod;
using test::SpreadRules;

/// A push, and what is wrong with it.
struct History {
  explicit History(unsigned seed) : random(seed) {
    bad_hosts = chance(20) ? 0 : chance(40) ? 1 : 2;
    const std::size_t widths[] = {16, 16, 16, 1, 2, 4};
    limits.width = widths[pick(6)];
    limits.most_seeds = chance(70) ? 3 : 1 + pick(4);
    std::size_t hosts = chance(60) ? 1 + pick(12) : chance(85) ? 13 + pick(60) : 73 + pick(228);
    const std::uint64_t size = (1 + pick(chance(50) || hosts > 72 ? 20 : 150)) * kMiB - pick(kMiB);
    std::uint64_t uplink = (1 + pick(100) + hosts / 10) * kMiB / 20;
    std::size_t machines = chance(80) ? hosts : 1 + pick(hosts);
    if (bad_hosts < 2) {  // the seed must be slow enough for those that get ready last
      machines = hosts = std::min(hosts, 1 + limits.width + limits.width * limits.width);
      uplink = std::min({uplink, size / 80, 32 * kMiB / 80});
    }
    pod.emplace(hosts, size, uplink, seed);
    for (std::size_t number = 0; number < hosts; ++number) {
      test::ModelHost& host = pod->hosts[number];
      host.address = fmt::format("10.0.0.{}", number % machines);
      host.ready_at = pod->now + pod->up_to(1s);
      host.network_rate = 10 * kMiB;
      host.tar_rate = 10 * kMiB;
    }
    if (bad_hosts == 0 && chance(30)) pod->network = chance(50) ? Network::refuses : Network::drops;
    if (bad_hosts == 1) add_faults(pod->hosts[pick(hosts)], 30, 0);
    if (bad_hosts < 2) return;
    pod->network = chance(50) ? Network::works : static_cast<Network>(pick(5));
    const std::size_t percent = chance(50) ? 3 : 15;
    for (test::ModelHost& host : pod->hosts) add_faults(host, percent, percent);
  }

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  }
  bool chance(std::size_t percent) { return pick(100) < percent; }

  void add_faults(test::ModelHost& host, std::size_t percent, std::size_t late_percent) {
    if (chance(late_percent)) host.ready_at = pod->now + pod->up_to(15s);
    if (chance(late_percent)) host.can_relay = false;
    if (chance(percent)) host.alters = true;
    if (chance(percent)) host.is_deaf = true;
    if (chance(percent)) host.network_rate = kMiB / 20 + pick(kMiB / 4);
    if (chance(percent)) host.tar_rate = kMiB / 20 + pick(kMiB / 4);
    if (chance(percent)) host.gone_at = host.ready_at + pod->up_to(10s);
    host.is_gone_silently = chance(50);
    if (host.gone_at && chance(50)) host.back_at = *host.gone_at + pod->up_to(4s);
    if (!chance(percent)) return;
    host.suspended_from = host.ready_at + pod->up_to(10s);
    host.suspended_to = host.suspended_from + pod->up_to(12s);
  }

  std::mt19937 random;
  SpreadLimits limits;
  std::optional<SpreadPod> pod;
  std::size_t bad_hosts = 0;  ///< 2: any number
};

/// Lets the push happen. Some events come twice, or are about hosts that are gone.
class Push {
 public:
  explicit Push(unsigned seed)
      : history_(seed),
        pod_(*history_.pod),
        plan_(pod_.hosts.size(), pod_.size, SpreadPlan::First::podrun, history_.limits),
        rules_(pod_, history_.limits) {}

  void run() {
    while (!pod_.is_over() && !testing::Test::HasFailure()) {
      for (const SpreadEvent& event : pod_.step()) {
        tell(event);
        if (history_.bad_hosts > 0 && history_.chance(5)) tell(stray(event));
        if (history_.bad_hosts > 1 && history_.chance(1))
          tell(event::Stalled{history_.pick(pod_.hosts.size())});
      }
      if (plan_.next_tick() && *plan_.next_tick() <= pod_.now) tell(event::SpreadTick{});
      SpreadPlan copy = plan_;
      ASSERT_TRUE(copy.on(event::SpreadTick{}, pod_.now).empty()) << "it did not ask for this tick";
      ASSERT_LT(pod_.now - pod_.moved_at, 1min) << "some host waits for ever";
    }
    if (!testing::Test::HasFailure()) check_end();
  }

 private:
  void tell(const SpreadEvent& event) {
    rules_.hear(event);
    for (const SpreadAction& action : plan_.on(event, pod_.now)) {
      rules_.obey(action);
      std::visit([&](const auto& what) { pod_.send(receiver_of(what), action); }, action);
    }
    ASSERT_TRUE(!plan_.next_tick() || *plan_.next_tick() > pod_.now) << "a tick that does nothing";
  }
  static std::size_t receiver_of(const action::Drop& drop) { return drop.parent; }
  template <typename Other>
  static std::size_t receiver_of(const Other& other) {
    return other.host;
  }
  /// The same once more, or something about a host that is no longer there.
  SpreadEvent stray(const SpreadEvent& event) {
    const std::size_t host = history_.pick(pod_.hosts.size());
    const bool is_over = pod_.hosts[host].is_gone && !pod_.hosts[host].back_at;
    if (!is_over || !heard_gone_.count(host)) {
      if (const auto* gone = std::get_if<event::Gone>(&event)) heard_gone_.insert(gone->host);
      if (std::holds_alternative<event::Port>(event))
        return event::SpreadTick{};  // two answers, one question
      return event;
    }
    const SpreadEvent strays[] = {event::Port{host},
                                  event::Deaf{host},
                                  event::Joined{host},
                                  event::At{host, history_.pick(2 * pod_.size)},
                                  event::Slow{host},
                                  event::LostParent{host, 0, history_.chance(50)},
                                  event::Gone{host},
                                  event::Done{host},
                                  event::Dropped{host, history_.pick(400), history_.chance(50)}};
    return strays[history_.pick(std::size(strays))];
  }

  void check_end() const {
    for (const test::ModelHost& host : pod_.hosts) EXPECT_TRUE(host.is_gone || host.extracted == pod_.size);
    EXPECT_LE(pod_.sent, (rules_.first_streams() + rules_.losses()) * pod_.size);
    if (history_.bad_hosts == 1) check_that_one_bad_host_costs_little();
    if (history_.bad_hosts > 0) return;
    if (pod_.network == Network::works) {
      EXPECT_EQ(rules_.losses(), 0U);
      EXPECT_EQ(pod_.sent, pod_.size) << rules_.streams() << " streams";
    } else {
      EXPECT_EQ(rules_.streams(), pod_.hosts.size());
      EXPECT_LE(rules_.most_parents(), 1U) << "there is no hope";
      EXPECT_LE(rules_.last_stream_at() - begin_, pod_.network == Network::drops ? 6s : 3s);
    }
  }
  void check_that_one_bad_host_costs_little() const {
    bool has_given_up = false;
    for (std::size_t host = 0; host < pod_.hosts.size(); ++host)
      has_given_up = has_given_up || plan_.source(host).reason == HereReason::nothing_works;
    EXPECT_TRUE(has_given_up || history_.limits.most_seeds < 3 || rules_.streams() <= 4) << rules_.streams();
  }

  History history_;
  SpreadPod& pod_;
  SpreadPlan plan_;
  SpreadRules rules_;
  const test::Clock::time_point begin_ = pod_.now;
  std::set<std::size_t> heard_gone_;
};

TEST(SpreadPlanProperty, HoldsInAnyPush) {
  for (unsigned seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Push(seed).run();
  }
}

}  // namespace
}  // namespace podrun::transfer
