// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Reads what jobs.sh prints: the jobs of a host. Pure. All text comes from the host: escape it before it is
// shown.
namespace podrun::jobs {

enum class JobState : std::uint8_t {
  starting,
  running,
  ended,
  rebooted,      ///< the host was rebooted while it ran
  unsupervised,  ///< the command runs, but its supervisor was killed: its exit status will not be known
  lost,          ///< both are gone, and no exit status was written
  removed
};

struct Job {
  std::string name;
  JobState state = JobState::lost;
  int status = 0;            ///< of an ended one: 128+N after signal N
  bool is_stopped = false;   ///< by podrun stop
  bool is_open = false;      ///< it has ended, and processes that it left have its output open
  std::uint64_t number = 0;  ///< which start of this name
  std::optional<std::chrono::seconds> age = std::nullopt;     ///< since its start; none after a reboot
  std::optional<std::chrono::seconds> ended = std::nullopt;   ///< how long ago
  std::optional<std::chrono::seconds> output = std::nullopt;  ///< how long ago it last printed; none: never
  std::uint64_t bytes = 0;                                    ///< of its output that is kept
  std::string command = {};

  bool is_active() const {
    return state == JobState::starting || state == JobState::running || state == JobState::unsupervised;
  }
};

struct JobList {
  bool is_complete = false;
  std::vector<Job> jobs = {};
};

/// Reads a host's standard output from the line after the nonce. Unknown lines are ignored.
JobList parse_job_list(std::string_view output, std::string_view nonce);

}  // namespace podrun::jobs
