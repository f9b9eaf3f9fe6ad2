// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/run/run_policy.hpp"

// What a person is told while the run goes on. Pure.
namespace podrun {

/// What one host is doing. It refers to the FanOut that says so.
struct HostStatus {
  const Host* host = nullptr;
  RunPolicy::State state = RunPolicy::State::waiting;
  bool failed = false;
  std::size_t attempt = 1;  ///< to connect
  std::string_view stage;   ///< of connecting
  TimePoint since;          ///< it does that, or it last printed something
  bool held = false;        ///< we do not read from it, so that its silence says nothing
};

struct Status {
  std::vector<HostStatus> hosts;
  std::uint64_t bytes = 0;  ///< printed by all of them so far
};

/// Bytes a second, over the last two seconds.
class Rate {
 public:
  void count(std::uint64_t total, TimePoint now);
  std::uint64_t per_second() const;

 private:
  std::deque<std::pair<TimePoint, std::uint64_t>> totals_;
};

/// `28 running · 3 done · 1 failed [7]`. Empty when all have ended.
StatusText status_counts(const Status& status);

/// And what changes from moment to moment: `· slowest [12] silent 94 s · 1.2 MB/s`.
StatusText status_text(const Status& status, std::uint64_t bytes_per_second, TimePoint now);

/// What Enter prints: who has not ended and what they do, those alike on one line. Each without a newline.
std::vector<std::string> status_list(const Status& status, TimePoint now);

}  // namespace podrun
