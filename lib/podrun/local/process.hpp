// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"

namespace podrun {

/// What a child is to us: the program itself, or a command that only leads to it (`ssh host`): then its death
/// by a signal is a Failure and not the program's, and abandoning it sends it TERM, since it may hang before
/// it reads, and KILL after two seconds.
enum class ProcessRole { program, way_in };

struct ProcessOptions {
  std::vector<std::string> arguments = {};    ///< looked up in our PATH
  std::vector<std::string> environment = {};  ///< `NAME=VALUE`, all of it
  std::string directory = {};                 ///< empty: ours
  ProcessRole role = ProcessRole::program;
  std::size_t descriptor_limit = 0;  ///< its soft RLIMIT_NOFILE, where ours was raised; 0: ours
};

/// Starts a child in a session of its own, with default signals and no descriptor of ours but its three
/// pipes. Throws HostError. It is reaped also when the stream is abandoned.
std::shared_ptr<Stream> spawn_process(const asio::any_io_executor& executor, ProcessOptions options);

/// For the end of podrun: sends KILL to every way in that has not ended after `patience`. Blocks until then.
void kill_ways_in(std::chrono::milliseconds patience);

}  // namespace podrun
