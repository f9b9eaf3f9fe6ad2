// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/status.hpp"

#include <algorithm>

namespace podrun::run {
namespace {

constexpr std::chrono::seconds kRateWindow{2};

}  // namespace

void Rate::count(std::uint64_t total, TimePoint now) {
  totals_.emplace_back(now, total);
  while (totals_.size() > 2 && totals_[1].first + kRateWindow <= now) totals_.pop_front();
}

std::uint64_t Rate::per_second() const {
  if (totals_.size() < 2) return 0;
  const auto [begin, bytes_before] = totals_.front();
  const auto [end, bytes] = totals_.back();
  const double elapsed = std::chrono::duration<double>(end - begin).count();
  return elapsed > 0 ? static_cast<std::uint64_t>(static_cast<double>(bytes - bytes_before) / elapsed) : 0;
}

bool only_output_is_left(const Status& status) {
  return std::all_of(status.hosts.begin(), status.hosts.end(), [](const HostStatus& host) {
    return host.state == RunPolicy::State::done ||
           (host.state == RunPolicy::State::closing && host.reading_paused);
  });
}

}  // namespace podrun::run
