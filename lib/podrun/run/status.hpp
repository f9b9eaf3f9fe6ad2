// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
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

/// `28 running · 3 done · 1 failed [7]`; who is waited for after a Ctrl-C: `2 running [3,7]`. Empty when all
/// have ended.
StatusText status_counts(const Status& status);

/// And what changes from moment to moment: `· slowest [12] silent 94 s · 1.2 MB/s`; after a Ctrl-C what comes
/// next: `2 ending [3,7] · KILL in 7 s (Ctrl-C: leave at once) · 3 done`.
StatusText status_text(const Status& status, std::uint64_t bytes_per_second, TimePoint now);

/// What Enter prints: who has not ended and what they do, those alike on one line. Each without a newline.
std::vector<std::string> status_list(const Status& status, TimePoint now);

/// What is said to this signal, once it has been acted upon; empty: nothing yet.
std::string interrupt_line(const Status& status, int signal);

/// Whether every command has ended, and all that is left is output that nobody reads.
bool only_output_is_left(const Status& status);

/// The last words when podrun leaves at once: what still goes on, or is lost.
std::string leave_line(const Status& status, TimePoint now);

}  // namespace podrun
