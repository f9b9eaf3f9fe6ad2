// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"

namespace podrun::local {

/// Either the program itself, or a transport command that leads to it (`ssh host`). A transport command's
/// death by a signal is a Failure. When abandoned it gets TERM, since it may hang before it reads, and KILL
/// after two seconds.
enum class ProcessRole { program, way_in };

struct ProcessOptions {
  std::vector<std::string> arguments = {};    ///< found with podrun's PATH
  std::vector<std::string> environment = {};  ///< `NAME=VALUE`, the whole environment
  std::string directory = {};                 ///< empty: podrun's
  ProcessRole role = ProcessRole::program;
  std::size_t descriptor_limit = 0;  ///< its soft RLIMIT_NOFILE if podrun raised its own; 0: podrun's
};

/// Starts a child in a new session, with default signals and only its three pipes as descriptors. Throws
/// HostError. The child is reaped even if the stream is abandoned.
std::shared_ptr<link::Stream> spawn_process(const asio::any_io_executor& executor, ProcessOptions options);

/// For podrun's exit: sends KILL to every transport command that has not ended after `patience`. Blocks that
/// long.
void kill_ways_in(std::chrono::milliseconds patience);

}  // namespace podrun::local
