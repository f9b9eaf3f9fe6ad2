// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"
#include "podrun/local/transport_commands.hpp"

namespace podrun::local {

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
