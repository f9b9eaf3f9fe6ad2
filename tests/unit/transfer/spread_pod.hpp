// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "podrun/transfer/spread/spread_plan.hpp"

namespace podrun::test {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kMiB = 1 << 20;

/// What is wrong with the network between two hosts.
enum class Network { works, refuses, drops, some_refuse, some_drop };

/// A host of a model pod, with its relay. Rates are bytes in a step.
struct ModelHost {
  // What it is like.
  Clock::time_point ready_at{};
  std::string address = {};
  bool can_relay = true;
  bool alters = false;
  bool is_deaf = false;
  std::uint64_t network_rate = 0;
  std::uint64_t tar_rate = 0;
  std::optional<Clock::time_point> gone_at = std::nullopt;
  bool is_gone_silently = false;  ///< its connections do not end
  std::optional<Clock::time_point> back_at = std::nullopt;
  Clock::time_point suspended_from{};
  Clock::time_point suspended_to{};

  // What it does.
  enum class Source { none, joining, parent, here, direct };
  bool is_ready = false;
  bool is_gone = false;
  bool is_done = false;
  Source source = Source::none;
  std::size_t parent = 0;
  Clock::time_point connects_at{};
  Clock::time_point joins_until{};
  std::uint64_t received = 0;
  std::uint64_t extracted = 0;
  Clock::duration silent{};
  Clock::duration held_by_tar{};
  Clock::duration holds_up{};  ///< its parent's others
  bool has_said_slow = false;
  std::set<std::size_t> expected = {};
  Clock::time_point listens_until{};
  std::set<std::size_t> children = {};
  Clock::time_point says_at{};
};

/// A model of hosts that push an archive on as the plan says, with a clock of its own. Everything follows
/// from the seed.
class SpreadPod {
 public:
  static constexpr std::chrono::milliseconds kStep{50};
  using Source = ModelHost::Source;

  SpreadPod(std::size_t count, std::uint64_t bytes, std::uint64_t rate, unsigned seed)
      : hosts(count), size(bytes), uplink(rate), random_(seed), inbox_(count), outbox_(count) {}

  std::vector<ModelHost> hosts;
  const std::uint64_t size;
  const std::uint64_t uplink;  ///< bytes in a step that podrun can send
  Network network = Network::works;
  std::uint64_t sent = 0;  ///< by podrun
  Clock::time_point now{std::chrono::hours(1)};
  Clock::time_point moved_at = now;  ///< bytes, somewhere

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  bool chance(std::size_t percent) { return pick(100) < percent; }
  std::chrono::milliseconds up_to(std::chrono::milliseconds most) {
    return std::chrono::milliseconds(pick(static_cast<std::size_t>(most.count()) + 1));
  }

  void send(std::size_t host, const transfer::SpreadAction& action) {
    inbox_[host].push_back({later(), action});
  }
  /// Lets the hosts act for a step; the events that have reached podrun.
  std::vector<transfer::SpreadEvent> step() {
    now += kStep;
    for (std::size_t host = 0; host < hosts.size(); ++host) change(host);
    feed();
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      if (is_up(hosts[host])) run(host);
    }
    std::vector<transfer::SpreadEvent> events;
    for (auto& queue : outbox_) {
      for (; !queue.empty() && queue.front().first <= now; queue.pop_front())
        events.push_back(queue.front().second);
    }
    std::shuffle(events.begin(), events.end(), Unordered{random_});
    return events;
  }
  bool is_over() const {
    return std::all_of(hosts.begin(), hosts.end(),
                       [](const ModelHost& host) { return host.is_done || (host.is_gone && !host.back_at); });
  }

 private:
  static constexpr std::uint64_t kWindow = 32 * kMiB;

  /// A shuffle may not change the order of one host's events: each step has at most one that matters.
  struct Unordered {
    using result_type = std::mt19937::result_type;
    std::mt19937& random;
    static constexpr result_type min() { return std::mt19937::min(); }
    static constexpr result_type max() { return std::mt19937::max(); }
    result_type operator()() { return random(); }
  };

  Clock::time_point later() {
    return now + std::chrono::milliseconds(10) + up_to(std::chrono::milliseconds(90));
  }
  bool is_up(const ModelHost& host) const {
    return host.is_ready && !host.is_gone && !host.is_done &&
           !(host.suspended_from <= now && now < host.suspended_to);
  }
  void say(std::size_t host, const transfer::SpreadEvent& event) {
    Clock::time_point at = later();
    if (!outbox_[host].empty()) at = std::max(at, outbox_[host].back().first + kStep);
    outbox_[host].push_back({at, event});
  }

  void change(std::size_t number) {
    ModelHost& host = hosts[number];
    if (!host.is_ready && !host.is_gone && host.ready_at <= now) {
      host.is_ready = true;
      say(number, transfer::event::SpreadReady{number, host.address, host.can_relay});
    }
    if (host.is_ready && host.gone_at && *host.gone_at <= now && !host.is_done) {
      host.gone_at.reset();
      host.is_gone = true;
      sums_ = size;  // podrun sends them ahead, so that children notice their silence
      host.children.clear();
      outbox_[number].clear();
      say(number, transfer::event::Gone{number});
    }
    if (host.is_gone && host.back_at && *host.back_at <= now && outbox_[number].empty()) {
      inbox_[number].clear();
      ModelHost back;
      back.ready_at = now;
      back.address = host.address;
      back.network_rate = host.network_rate;
      back.tar_rate = host.tar_rate;
      host = back;
    }
  }

  bool has_room(const ModelHost& host) const {
    if (host.received >= size || host.received >= host.extracted + kWindow) return false;
    return std::all_of(host.children.begin(), host.children.end(),
                       [&](std::size_t child) { return host.received < hosts[child].received + kWindow; });
  }
  void feed() {
    std::vector<ModelHost*> fed;
    for (ModelHost& host : hosts) {
      if (is_up(host) && (host.source == Source::here || host.source == Source::direct) && has_room(host))
        fed.push_back(&host);
    }
    for (ModelHost* host : fed) {
      const std::uint64_t bytes =
          std::min({uplink / fed.size() + 1, host->network_rate, size - host->received});
      host->received += bytes;
      sent += bytes;
      // Not before the block: otherwise the others lose patience with their parents.
      sums_ = std::max(sums_, host->received == size ? size : host->received / kMiB * kMiB);
      moved_at = now;
    }
  }

  void run(std::size_t number) {
    ModelHost& host = hosts[number];
    for (auto& inbox = inbox_[number]; !inbox.empty() && inbox.front().first <= now; inbox.pop_front())
      std::visit([&](const auto& what) { obey(number, what); }, inbox.front().second);
    if (host.extracted < host.received) moved_at = now;
    host.extracted = std::min(host.extracted + host.tar_rate, host.received);
    if (host.source == Source::joining) join(number);
    if (host.source == Source::parent) receive(number);
    look_after_children(number);
    if (host.says_at <= now) {
      host.says_at = now + std::chrono::seconds(1);
      say(number, transfer::event::At{number, host.extracted});
    }
    const auto has_all = [this](std::size_t child) { return hosts[child].received >= size; };
    const bool listens = !host.expected.empty() && now < host.listens_until;
    if (host.source != Source::none && host.extracted >= size && !listens &&
        std::all_of(host.children.begin(), host.children.end(), has_all)) {
      host.is_done = true;
      say(number, transfer::event::Done{number});
    }
  }

  void obey(std::size_t number, const transfer::action::Listen& listen) {
    ModelHost& host = hosts[number];
    if (host.is_deaf) return say(number, transfer::event::Deaf{number});
    host.expected.insert(listen.children.begin(), listen.children.end());
    host.listens_until = now + std::chrono::milliseconds(2500);
    say(number, transfer::event::Port{number});
  }
  void obey(std::size_t number, const transfer::action::FromParent& from) {
    ModelHost& host = hosts[number];
    EXPECT_EQ(host.source, Source::none) << "two sources";
    host.source = Source::joining;
    host.parent = from.parent;
    host.connects_at = later();
    host.joins_until = now + std::chrono::milliseconds(2500);
  }
  void obey(std::size_t number, const transfer::action::FromHere& from) {
    ModelHost& host = hosts[number];
    EXPECT_EQ(host.source, Source::none) << "two sources";
    EXPECT_EQ(from.offset, host.received) << "data must begin at the first missing byte";
    EXPECT_TRUE(host.can_relay);
    host.source = Source::here;
  }
  void obey(std::size_t number, const transfer::action::Direct&) {
    EXPECT_EQ(hosts[number].source, Source::none) << "two sources";
    EXPECT_EQ(hosts[number].received, 0U);
    hosts[number].source = Source::direct;
  }
  void obey(std::size_t number, const transfer::action::Leave&) {
    if (hosts[number].source == Source::joining) return lose(number, true);
    if (hosts[number].source == Source::parent && hosts[number].received < size) lose(number, false);
  }
  void obey(std::size_t number, const transfer::action::Drop& drop) {
    hosts[number].children.erase(drop.child);
    hosts[number].expected.erase(drop.child);
  }

  void lose(std::size_t number, bool never_joined) {
    hosts[hosts[number].parent].children.erase(number);
    hosts[number].source = Source::none;
    hosts[number].silent = {};
    say(number, transfer::event::LostParent{number, hosts[number].received, never_joined});
  }
  Network between(std::size_t child, std::size_t parent) const {
    const bool is_bad = (child * 7 + parent * 13) % 5 == 0;
    if (network == Network::some_refuse) return is_bad ? Network::refuses : Network::works;
    if (network == Network::some_drop) return is_bad ? Network::drops : Network::works;
    return network;
  }
  void join(std::size_t number) {
    ModelHost& host = hosts[number];
    ModelHost& parent = hosts[host.parent];
    if (now >= host.joins_until) return lose(number, true);
    const Network way = between(number, host.parent);
    const bool is_silent = (parent.is_gone && parent.is_gone_silently) || way == Network::drops;
    if (now < host.connects_at || is_silent || (!parent.is_gone && !parent.is_done && !is_up(parent))) return;
    const bool is_expected = parent.expected.count(number) > 0 && now < parent.listens_until;
    const bool is_kept = parent.received <= host.received + kWindow;
    if (!is_up(parent) || way == Network::refuses || !is_expected || !is_kept) return lose(number, true);
    parent.expected.erase(number);
    parent.children.insert(number);
    host.source = Source::parent;
    host.silent = host.holds_up = {};
    say(number, transfer::event::Joined{number});
  }
  void receive(std::size_t number) {
    ModelHost& host = hosts[number];
    ModelHost& parent = hosts[host.parent];
    const bool is_cut = parent.is_gone ? !parent.is_gone_silently : parent.children.count(number) == 0;
    if (is_cut && host.received < size) return lose(number, false);
    std::uint64_t until = parent.received == size ? size : parent.received / kMiB * kMiB;
    if (!is_up(parent) && !parent.is_done) until = 0;
    if (until > host.received && parent.alters) return lose(number, false);
    if (until > host.received && has_room(host)) {
      host.received += std::min(until - host.received, host.network_rate);
      host.silent = {};
    } else if (host.received < std::min(sums_, size) && (until == 0 || until >= host.received)) {
      host.silent += kStep;
      if (host.silent >= std::chrono::seconds(5) && has_room(host)) lose(number, false);
    }
  }
  /// Finds out what holds the host up.
  void look_after_children(std::size_t number) {
    ModelHost& host = hosts[number];
    if (host.children.empty() || host.received >= size || host.source == Source::none) return;
    if (host.received >= host.extracted + kWindow) {
      host.held_by_tar += kStep;
      if (host.held_by_tar < std::chrono::seconds(3) || std::exchange(host.has_said_slow, true)) return;
      return say(number, transfer::event::Slow{number});
    }
    for (const std::size_t child : std::set<std::size_t>(host.children)) {
      if (host.received < hosts[child].received + kWindow) continue;
      hosts[child].holds_up += kStep;
      if (hosts[child].holds_up < std::chrono::seconds(3)) continue;
      host.children.erase(child);
      say(number, transfer::event::Dropped{number, child, true});
    }
  }

  std::mt19937 random_;
  std::uint64_t sums_ = 0;  ///< the bytes whose sums podrun has sent
  std::vector<std::deque<std::pair<Clock::time_point, transfer::SpreadAction>>> inbox_;
  std::vector<std::deque<std::pair<Clock::time_point, transfer::SpreadEvent>>> outbox_;
};

}  // namespace podrun::test
