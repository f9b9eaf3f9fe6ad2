// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/link/link.hpp"
#include "podrun/output/output.hpp"
#include "podrun/run/input.hpp"
#include "podrun/run/notice.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/supervisor/command.hpp"
#include "podrun/supervisor/protocol.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::run {

/// One command for all hosts.
struct RunPlan {
  std::string run_id;
  std::vector<hosts::Host> hosts;
  supervisor::RemoteCommand command;
  std::vector<std::string> texts_of_hosts = {};  ///< sh text before the command's; empty: none
  supervisor::Supervision supervision;           ///< each host gets its own mark, and the grace of `limits`
  Limits limits;
  int verbosity = 0;
};

/// Removes data for podrun from the standard output of the commands.
class OutputFilter {
 public:
  OutputFilter() = default;
  OutputFilter(const OutputFilter&) = delete;
  OutputFilter& operator=(const OutputFilter&) = delete;
  virtual ~OutputFilter() = default;

  /// Takes output; returns the bytes that are certainly the command's own, perhaps none.
  virtual Chunk pass(std::size_t host, Chunk bytes) = 0;
  /// Returns the bytes that pass() kept. Call when no more output follows.
  virtual Chunk finish(std::size_t host) = 0;
};

/// The outside world of a run.
struct RunWorld {
  asio::any_io_executor executor;
  std::function<link::Connector&(const hosts::Host&)> connector_for;
  output::Output& output;
  Input* input = nullptr;       ///< for StandardInput::fed
  std::function<void()> leave;  ///< ends the process at once
  std::function<void(const Notice&)> tell;
  /// Optional: works with a host after its supervisor is up and before it is ready. Throws HostError.
  std::function<asio::awaitable<void>(std::size_t host, supervisor::Supervised&)> prepare_host = nullptr;
  link::Stage preparing = link::Stage::copying;  ///< the stage of prepare_host
  OutputFilter* filter = nullptr;                ///< optional
};

}  // namespace podrun::run
