// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

// The state of a run at one moment, as values; report/status_words.hpp has the words. Pure.
namespace podrun::run {

/// The state of one host. Refers to the FanOut that returned it.
struct HostStatus {
  const hosts::Host* host = nullptr;
  RunPolicy::State state = RunPolicy::State::waiting;
  bool failed = false;
  std::size_t attempt = 1;                ///< to connect
  link::Stage stage = link::Stage::none;  ///< of connecting
  TimePoint since;                        ///< the last change of state, or the last output
  TimePoint tried_since;                  ///< the beginning of its first attempt
  bool reading_paused = false;            ///< podrun does not read from the host, so its silence says nothing
  std::optional<TimePoint> kill_at = std::nullopt;  ///< stopping: the end of the grace period
  std::optional<int> exit_status = std::nullopt;    ///< of a job there that has ended while it is followed
};

/// The progress of copying files to all hosts.
struct TransferStatus {
  std::uint64_t done = 0;   ///< bytes
  std::uint64_t total = 0;  ///< the part that is known
  bool is_total_known = false;
  std::optional<std::chrono::seconds> left = std::nullopt;  ///< for the slowest host, if that is known
  std::optional<std::size_t> slowest = std::nullopt;        ///< the slowest worker, if others are far ahead
  unsigned slowest_percent = 0;
  std::optional<std::size_t> slowest_source = std::nullopt;  ///< the worker that serves it, if one does
  std::string_view hint = {};                                ///< what would make it faster
  std::string_view short_hint = {};                          ///< where that does not fit
};

/// Adds up the progress of each host.
class TransferSum {
 public:
  void add(std::size_t worker, std::uint64_t done, std::uint64_t total) {
    status_.done += done;
    status_.total += total;
    if (total == 0) return;
    const double part = static_cast<double>(done) / static_cast<double>(total);
    ++count_;
    parts_ += part;
    if (part >= least_) return;
    least_ = part;
    status_.slowest = worker;
    status_.slowest_percent = static_cast<unsigned>(part * 100);
  }
  /// Names the slowest host if its progress is less than half of the average of hosts with something to copy.
  TransferStatus status() const {
    constexpr double kSlow = 0.5;
    TransferStatus status = status_;
    if (least_ * static_cast<double>(count_) > kSlow * parts_) status.slowest.reset();
    return status;
  }

 private:
  TransferStatus status_;
  std::size_t count_ = 0;  ///< hosts with something to copy
  double parts_ = 0;       ///< of 1, of all of them
  double least_ = 1;
};

struct Status {
  std::vector<HostStatus> hosts = {};
  std::uint64_t bytes = 0;  ///< printed by all of them so far
  int presses = 0;          ///< of Ctrl-C, or what acts like it
  std::chrono::seconds grace{};
  std::size_t attempts = 0;  ///< to connect, at most, of each host; 0: no limit
  std::optional<TransferStatus> transfer = std::nullopt;
};

/// Bytes a second, over the last two seconds.
class Rate {
 public:
  void count(std::uint64_t total, TimePoint now) {
    totals_.emplace_back(now, total);
    while (totals_.size() > 2 && totals_[1].first + kRateWindow <= now) totals_.pop_front();
  }
  std::uint64_t per_second() const {
    if (totals_.size() < 2) return 0;
    const auto [begin, bytes_before] = totals_.front();
    const auto [end, bytes] = totals_.back();
    const double elapsed = std::chrono::duration<double>(end - begin).count();
    return elapsed > 0 ? static_cast<std::uint64_t>(static_cast<double>(bytes - bytes_before) / elapsed) : 0;
  }

 private:
  static constexpr std::chrono::seconds kRateWindow{2};
  std::deque<std::pair<TimePoint, std::uint64_t>> totals_;
};

/// Whether every command has ended, and only unread output remains.
inline bool only_output_is_left(const Status& status) {
  return std::all_of(status.hosts.begin(), status.hosts.end(), [](const HostStatus& host) {
    return host.state == RunPolicy::State::done ||
           (host.state == RunPolicy::State::closing && host.reading_paused);
  });
}

}  // namespace podrun::run
