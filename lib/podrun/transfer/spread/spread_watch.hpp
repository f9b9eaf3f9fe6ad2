// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "podrun/transfer/spread/spread_plan.hpp"

namespace podrun::transfer {

/// Counts how long each host of a spread keeps podrun or its children waiting. Pure: time passes in steps.
class SpreadWatch {
 public:
  using Time = std::chrono::milliseconds;

  struct Limits {
    Time leave{std::chrono::seconds(10)};   ///< for a parent that could send, and sends nothing
    Time silent{std::chrono::seconds(60)};  ///< for a host that owes an answer or progress
  };
  /// For a host to become ready, with this --connect-timeout.
  static Limits limits_for(std::chrono::seconds connect_timeout);

  struct Look {
    std::size_t host;
    bool owes = false;  ///< nothing but the host, or its parent, can make it go on
    SpreadStanding::Parent parent = SpreadStanding::Parent::none;
    std::array<std::uint64_t, 4> progress = {};  ///< its silence counts from the last change of these
    Time allowance{};                            ///< beyond Limits::silent
  };
  enum class Verdict { fine, leave_parent, is_silent };

  explicit SpreadWatch(const Limits& limits) : limits_(limits) {}

  Verdict look(const Look& look, Time step);
  void forget(std::size_t host) { hosts_.erase(host); }
  const Limits& limits() const { return limits_; }

 private:
  struct Host {
    std::array<std::uint64_t, 4> progress = {};
    SpreadStanding::Parent parent = SpreadStanding::Parent::none;
    Time silent{};                            ///< without progress that it owes
    Time kept{};                              ///< by a parent with nothing left to wait for
    std::optional<Time> told = std::nullopt;  ///< since it was told to leave
  };

  bool is_kept_too_long(const Host& host) const;

  Limits limits_;
  std::map<std::size_t, Host> hosts_ = {};
};

}  // namespace podrun::transfer
