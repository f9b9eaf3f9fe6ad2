// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "podrun/output/status_line.hpp"
#include "podrun/run/status.hpp"

// The texts for people while a run goes on. Pure.
namespace podrun::report {

/// The words of a podrun command for its own script on the hosts, in place of those for a user's command.
struct OwnWords {
  output::StatusText line;        ///< the status line
  std::vector<std::string> list;  ///< at Enter
  std::string interrupt_line;     ///< empty: nothing is said
};
/// nullopt: the usual words.
using OwnWordsFor = std::function<std::optional<OwnWords>(const run::Status& status, run::TimePoint now)>;

/// `KILL in 7 s`
std::string describe_kill(std::optional<run::TimePoint> kill_at, run::TimePoint now);

/// `28 running · 3 done · 1 failed [7]`; after a Ctrl-C only the remaining hosts: `2 running [3,7]`. Empty
/// when all have ended.
output::StatusText status_counts(const run::Status& status);

/// Appends what changes from moment to moment: `· [7] tpu-7: attempt 2 of 3, 14 s`, `· slowest [12] silent 94
/// s · 1.2 MB/s`; after a Ctrl-C what comes next: `2 stopping [3,7] · KILL in 7 s (Ctrl-C: exit at once)`.
output::StatusText status_text(const run::Status& status, std::uint64_t bytes_per_second, run::TimePoint now);

/// The list that Enter prints: the hosts that have not ended, one line for each activity, with the names of
/// hosts that are alone or that others may wait for. Lines without a newline.
std::vector<std::string> status_list(const run::Status& status, run::TimePoint now);

/// The reply to a signal that podrun has passed on; empty if there is nothing to report yet.
std::string interrupt_line(const run::Status& status, int signal);

/// The last line if podrun exits at once: the hosts that still run or stop the command.
std::string leave_line(const run::Status& status, run::TimePoint now);

}  // namespace podrun::report
