// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podrun/output/status_line.hpp"
#include "podrun/run/status.hpp"

// What a person is told while a run goes on. Pure.
namespace podrun::report {

/// `28 running · 3 done · 1 failed [7]`; who is waited for after a Ctrl-C: `2 running [3,7]`. Empty when all
/// have ended.
output::StatusText status_counts(const run::Status& status);

/// And what changes from moment to moment: `· slowest [12] silent 94 s · 1.2 MB/s`; after a Ctrl-C what comes
/// next: `2 ending [3,7] · KILL in 7 s (Ctrl-C: leave at once) · 3 done`.
output::StatusText status_text(const run::Status& status, std::uint64_t bytes_per_second, run::TimePoint now);

/// What Enter prints: who has not ended and what they do, those alike on one line. Each without a newline.
std::vector<std::string> status_list(const run::Status& status, run::TimePoint now);

/// What is said to this signal, once it has been acted upon; empty: nothing yet.
std::string interrupt_line(const run::Status& status, int signal);

/// The last words when podrun leaves at once: what still goes on, or is lost.
std::string leave_line(const run::Status& status, run::TimePoint now);

}  // namespace podrun::report
