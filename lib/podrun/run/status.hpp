// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/run_policy.hpp"

// What a run is doing at a moment, as values; report/status_words.hpp makes the words. Pure.
namespace podrun::run {

/// What one host is doing. It refers to the FanOut that says so.
struct HostStatus {
  const hosts::Host* host = nullptr;
  RunPolicy::State state = RunPolicy::State::waiting;
  bool failed = false;
  std::size_t attempt = 1;                ///< to connect
  link::Stage stage = link::Stage::none;  ///< of connecting
  TimePoint since;                        ///< it does that, or it last printed something
  bool held = false;                      ///< we do not read from it, so that its silence says nothing
  std::optional<TimePoint> kill_at = std::nullopt;  ///< ending: when the grace is over
};

struct Status {
  std::vector<HostStatus> hosts = {};
  std::uint64_t bytes = 0;  ///< printed by all of them so far
  int presses = 0;          ///< of Ctrl-C, or what acts like it
  std::chrono::seconds grace{};
};

/// Bytes a second, over the last two seconds.
class Rate {
 public:
  void count(std::uint64_t total, TimePoint now);
  std::uint64_t per_second() const;

 private:
  std::deque<std::pair<TimePoint, std::uint64_t>> totals_;
};

/// Whether every command has ended, and all that is left is output that nobody reads.
bool only_output_is_left(const Status& status);

}  // namespace podrun::run
