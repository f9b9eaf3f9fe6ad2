// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/run/outcome.hpp"

// Reads the jobs that a host lists (jobs.sh), and writes them as JSON. Pure. All text in a JobList comes from
// the host.
namespace podrun::jobs {

/// The exit status of a job whose own is not known.
inline constexpr int kUnknownStatus = 255;

enum class JobState : std::uint8_t {
  starting,
  running,
  ended,
  rebooted,      ///< the host was rebooted while the job ran
  unsupervised,  ///< the command runs, but its supervisor was killed, so its exit status will stay unknown
  lost,          ///< command and supervisor are gone, and no exit status was written
  removed,
  elsewhere  ///< another machine with this home directory has it, and it has not ended
};

struct Job {
  std::string name;
  std::string place = {};  ///< WORKER-HOST, where it was started with another list; else empty
  JobState state = JobState::lost;
  std::string machine = {};           ///< its host name, with JobState::elsewhere
  int status = 0;                     ///< of an ended job: 128+N after signal N
  bool is_stopped = false;            ///< by podrun stop
  bool is_kept_here = false;          ///< its command is podrun, which runs it on other hosts
  std::chrono::seconds grace{0};      ///< of a kept one: the grace period on its hosts
  std::uint64_t tries = 0;            ///< of a kept one: how often it was started on all of them
  std::string doing = {};             ///< the same: a line about the hosts
  bool is_open = false;               ///< it has ended, but processes that it left have its output open
  std::uint64_t number = 0;           ///< counts the starts of this name
  std::set<std::uint64_t> kept = {};  ///< the numbers of the starts whose output is there
  std::optional<std::chrono::seconds> age = std::nullopt;     ///< since its start; none after a reboot
  std::optional<std::chrono::seconds> ended = std::nullopt;   ///< how long ago
  std::optional<std::chrono::seconds> output = std::nullopt;  ///< how long ago it last printed; none: never
  std::uint64_t bytes = 0;                                    ///< of its output that is kept
  std::string command = {};
  std::string last_line = {};  ///< of its output, where that was asked for

  bool is_active() const {
    return (state == JobState::starting && !is_stopped) || state == JobState::running ||
           state == JobState::unsupervised || state == JobState::elsewhere;
  }
};

struct JobList {
  bool is_complete = false;
  std::vector<Job> jobs = {};

  /// The job whose output is shown: one that has not ended, else the first; null: there is none. (A host has
  /// several jobs of a name if they were started with several lists.)
  const Job* shown() const;
};

/// Reads a host's standard output.
JobList parse_job_list(std::string_view output, std::string_view nonce);

/// Sets state and status from what job_state.sh prints: `running`, `ended 3 …`. Anything else leaves them.
void read_job_state(Job& job, std::string_view text);

/// A host that has answered.
struct ListedJobs {
  std::size_t host = 0;  ///< index
  JobList list;
};

/// `kept`: by this machine. `outcomes`: of each host of the run. Schema: docs/jobs-schema.json
std::string jobs_json(output::WallTime time, const std::vector<Job>& kept,
                      const std::vector<hosts::Host>& hosts, const std::vector<run::HostOutcome>& outcomes,
                      const std::vector<ListedJobs>& listed);

}  // namespace podrun::jobs
