// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <set>

namespace podrun::local {

/// The transport commands of one run that have not been reaped yet, so that their pids cannot belong to other
/// processes. It must outlive the run's io_context.
class TransportCommands {
 public:
  void add(pid_t pid) { pids_.insert(pid); }
  void remove(pid_t pid) { pids_.erase(pid); }
  /// For the end of a run: sends KILL to each one that has not ended after `patience`. Blocks that long. The
  /// io_context must not run again.
  void kill(std::chrono::milliseconds patience);

 private:
  std::set<pid_t> pids_;
};

}  // namespace podrun::local
