// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/link/link.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::supervisor {

/// Reads what a program beside a command prints.
class ProgramReader {
 public:
  explicit ProgramReader(StartedProgram program)
      : stream_(std::move(program.stream)), early_(std::move(program.early)) {}

  /// The next standard output; none at the end. Throws HostError.
  asio::awaitable<std::optional<Chunk>> read();

  const std::shared_ptr<link::Stream>& stream() const { return stream_; }
  const std::string& said() const { return said_; }  ///< on standard error, up to 64 KiB
  /// `tar: no space left (exit 2)`: the last line on standard error, and how the program ended.
  std::string describe_end() const;
  /// Whether it was ended by a signal, or by a shell or transport command that says so by its exit status.
  bool was_killed() const;

 private:
  std::shared_ptr<link::Stream> stream_;
  Chunk early_;
  std::string said_ = {};
  link::StreamEvent end_ = link::Closed{};
};

}  // namespace podrun::supervisor
