// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"

namespace podrun::local {

/// The transport commands of one run that have not been reaped yet, so that their pids cannot belong to other
/// processes. It must outlive the run's io_context.
class TransportCommands {
 public:
  void add(pid_t pid) { pids_.insert(pid); }
  void remove(pid_t pid) { pids_.erase(pid); }
  /// For the end of a run: sends KILL to each one that has not ended after `grace`. Blocks that long. The
  /// io_context must not run again.
  void kill(std::chrono::milliseconds grace);

 private:
  std::set<pid_t> pids_;
};

struct ProcessOptions {
  std::vector<std::string> arguments = {};    ///< found with podrun's PATH
  std::vector<std::string> environment = {};  ///< `NAME=VALUE`, the whole environment
  std::string directory = {};                 ///< empty: podrun's
  /// Not null: the child is a transport command, which leads to the program (`ssh host`). Its death by a
  /// signal is a Failure. When abandoned it gets TERM, since it may hang before it reads, and KILL after two
  /// seconds.
  TransportCommands* transports = nullptr;
  std::size_t descriptor_limit = 0;  ///< its soft RLIMIT_NOFILE if podrun raised its own; 0: podrun's
};

/// Starts a child in a new session, with default signals and only its three pipes as descriptors. Throws
/// HostError. The child is reaped even if the stream is abandoned. Several io_contexts may have children at
/// the same time, each on its own thread.
std::shared_ptr<link::Stream> spawn_process(const asio::any_io_executor& executor, ProcessOptions options);

}  // namespace podrun::local
