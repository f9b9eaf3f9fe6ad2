// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Reads what holders_of_host.sh and free.sh print: the processes that have accelerators of a host open. Pure.
// All text comes from the host: escape it before it is shown.
namespace podrun::accelerators {

/// A process that has an accelerator open.
struct Holder {
  std::uint64_t pid = 0;
  std::uint64_t start = 0;  ///< after boot, in clock ticks: with the pid it names a process. proc(5), stat
  std::uint64_t uid = 0;
  std::string user = {};  ///< the name of its user, or the uid again
  std::chrono::seconds age{0};
  char state = '?';          ///< `D`: waits in the kernel, not even KILL ends it. proc(5), stat
  std::string name = {};     ///< at most 15 bytes
  std::string command = {};  ///< its words, or the first 300 bytes of them
  std::string mark =
      {};  ///< `RUN.WORKER.` or `RUN.job-WORKER-NAME.`: of the run that started it; empty: none
  bool run_lives = false;                 ///< that run goes on
  std::string cgroup = {};                ///< empty: it is in no container
  std::vector<std::string> devices = {};  ///< `/dev/accel0`
};

struct HolderList {
  bool is_complete = false;
  bool sees_all = false;    ///< also the processes of other users
  std::uint64_t uid = 0;    ///< ours on the host
  std::string cgroup = {};  ///< ours; empty: we are in no container, or no process was told
  std::vector<std::string> devices = {};
  std::vector<std::uint64_t> above = {};  ///< our own shell there, and what started it; only with processes
  std::vector<Holder> holders = {};
  std::vector<std::string> removed_locks = {};
  std::string kept_lock = {};  ///< `PID holds PATH`: why one was not removed; empty: none was there
};

/// Reads a host's standard output from the line after the nonce. Unknown lines are ignored.
HolderList parse_holder_list(std::string_view output, std::string_view nonce);

}  // namespace podrun::accelerators
