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

void TransferSum::add(std::size_t worker, std::uint64_t done, std::uint64_t total) {
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

TransferStatus TransferSum::status() const {
  constexpr double kSlow = 0.5;
  TransferStatus status = status_;
  if (least_ * static_cast<double>(count_) > kSlow * parts_) status.slowest.reset();
  return status;
}

}  // namespace podrun::run
