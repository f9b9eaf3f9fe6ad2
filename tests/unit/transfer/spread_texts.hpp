// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/transfer/spread/spread_plan.hpp"

namespace podrun::test {

constexpr std::uint64_t operator""_MiB(unsigned long long count) { return count << 20; }
constexpr std::uint64_t kSpreadSize = 1000_MiB;

/// A push with a clock that only the test moves. Answers are texts, offsets in MiB: `listen 0: 1,2`,
/// `1 from 0`, `2 from here at 5`, `3 directly`, `drop 0: 1`.
class Spread {
 public:
  using First = transfer::SpreadPlan::First;

  explicit Spread(std::size_t hosts, const transfer::SpreadLimits& limits = {}, First first = First::podrun)
      : plan_(hosts, kSpreadSize, first, limits) {}

  std::string on(const transfer::SpreadEvent& event) {
    std::vector<std::string> texts;
    for (const transfer::SpreadAction& action : plan_.on(event, now_))
      texts.push_back(std::visit([](const auto& what) { return describe(what); }, action));
    return fmt::format("{}", fmt::join(texts, "; "));
  }
  std::string ready(std::size_t host, const std::string& address = "") {
    return on(
        transfer::event::SpreadReady{host, address.empty() ? fmt::format("10.0.0.{}", host) : address, true});
  }
  std::string ready_without_python(std::size_t host) {
    return on(transfer::event::SpreadReady{host, "", false});
  }
  std::string ready_with_files(std::size_t host, bool can_relay = true) {
    return on(transfer::event::SpreadReady{host, fmt::format("10.0.0.{}", host), can_relay, true});
  }
  std::string port(std::size_t host) { return on(transfer::event::Port{host}); }
  std::string joined(std::size_t host) { return on(transfer::event::Joined{host}); }
  std::string at(std::size_t host, std::uint64_t offset) { return on(transfer::event::At{host, offset}); }
  std::string lost(std::size_t host, std::uint64_t offset) {
    return on(transfer::event::LostParent{host, offset, false});
  }
  std::string never_joined(std::size_t host, std::uint64_t offset = 0) {
    return on(transfer::event::LostParent{host, offset, true});
  }
  std::string dropped(std::size_t parent, std::size_t child) {
    return on(transfer::event::Dropped{parent, child, true});
  }
  std::string stalled(std::size_t host) { return on(transfer::event::Stalled{host}); }
  std::string slow(std::size_t host) { return on(transfer::event::Slow{host}); }
  std::string gone(std::size_t host) { return on(transfer::event::Gone{host}); }
  std::string done(std::size_t host) { return on(transfer::event::Done{host}); }
  /// Until the next tick.
  std::string wait() {
    if (!plan_.next_tick()) return "no tick";
    now_ = *plan_.next_tick();
    return on(transfer::event::SpreadTick{});
  }
  void pass(std::chrono::milliseconds time) { now_ += time; }

  /// All hosts get ready, and join what the plan tells them.
  void all_join(std::size_t hosts) {
    for (std::size_t host = 0; host < hosts; ++host) joins(host);
  }
  void joins(std::size_t host) {
    joins_all(plan_.on(transfer::event::SpreadReady{host, fmt::format("10.0.0.{}", host), true}, now_));
  }
  std::string source(std::size_t host) const {
    const transfer::SpreadSource source = plan_.source(host);
    if (source.parent) return fmt::format("{}", *source.parent);
    const std::string reason = describe(source.reason);
    return source.lost ? fmt::format("{} {}", reason, *source.lost) : reason;
  }
  transfer::SpreadStanding standing(std::size_t host) const { return plan_.standing(host); }
  std::optional<std::chrono::milliseconds> next_tick() const {
    if (!plan_.next_tick()) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(*plan_.next_tick() - now_);
  }

 private:
  static std::string describe(transfer::HereReason reason) {
    switch (reason) {
      case transfer::HereReason::none:
        return "none";
      case transfer::HereReason::seed:
        return "seed";
      case transfer::HereReason::cannot_relay:
        return "cannot relay";
      case transfer::HereReason::too_late:
        return "too late";
      case transfer::HereReason::nothing_works:
        return "nothing works";
      case transfer::HereReason::unreachable:
        return "unreachable";
      case transfer::HereReason::too_slow:
        return "too slow";
      case transfer::HereReason::lost_parent:
        return "lost parent";
    }
    return "?";
  }
  static std::string describe(const transfer::action::Listen& listen) {
    return fmt::format("listen {}: {}", listen.host, fmt::join(listen.children, ","));
  }
  static std::string describe(const transfer::action::FromParent& from) {
    return fmt::format("{} from {}", from.host, from.parent);
  }
  static std::string describe(const transfer::action::FromHere& from) {
    return fmt::format("{} from here at {}", from.host, from.offset >> 20);
  }
  static std::string describe(const transfer::action::Direct& direct) {
    return fmt::format("{} directly", direct.host);
  }
  static std::string describe(const transfer::action::Leave& leave) {
    return fmt::format("{} leaves", leave.host);
  }
  static std::string describe(const transfer::action::Drop& drop) {
    return fmt::format("drop {}: {}", drop.parent, drop.child);
  }
  void joins_all(const std::vector<transfer::SpreadAction>& actions) {
    for (const transfer::SpreadAction& action : actions) {
      if (const auto* listen = std::get_if<transfer::action::Listen>(&action))
        joins_all(plan_.on(transfer::event::Port{listen->host}, now_));
      if (const auto* from = std::get_if<transfer::action::FromParent>(&action))
        joins_all(plan_.on(transfer::event::Joined{from->host}, now_));
    }
  }

  transfer::SpreadPlan plan_;
  transfer::SpreadPlan::TimePoint now_{std::chrono::hours(1)};
};

}  // namespace podrun::test
