// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/restarts/restart_policy.hpp"
#include "podrun/restarts/stall_watch.hpp"
#include "podrun/session/notify.hpp"
#include "podrun/session/session.hpp"
#include "podrun/session/specs.hpp"
#include "podrun/supervisor/command.hpp"

namespace podrun::restarts {

/// A command that is started again when it fails or a host is lost.
struct RestartSpec {
  RestartLimits limits = {};
  std::string prepare = {};  ///< text for /bin/sh here, run before each restart; empty: none
  StallSpec stall = {};
  std::string directory = {};  ///< for reports of stalls, without --outdir; empty: podrun's own
  std::function<void(std::size_t tries)> on_begin =
      nullptr;  ///< the command of a try has begun on all hosts; may be null
  /// Reads the list of hosts again while hosts are missing; null: it cannot change. May throw UsageError.
  std::function<std::vector<hosts::Host>()> find_hosts = nullptr;
  /// The run of a try: the command with these variables before its own, on the hosts of the session.
  std::function<session::RunSpec(const session::SessionSpec&, const std::vector<supervisor::Variable>&)>
      make_run = nullptr;
};

/// The command with these variables, which its own of the same name replace.
supervisor::Command with_variables(supervisor::Command command,
                                   const std::vector<supervisor::Variable>& variables);

struct RestartResult {
  int status = 0;  ///< the exit status
  OverReason reason = OverReason::finished;
  std::size_t tries = 0;
  std::vector<hosts::Host> hosts = {};          ///< where the last try ran
  std::vector<run::HostOutcome> outcomes = {};  ///< of the last try
};

/// For --notify. `gives_reason`: why it is not started again, for a command that may be.
session::Ended ended(const RestartResult& result, bool gives_reason);

/// Runs the command, and again as RestartPolicy has it. The session should keep its connections. Throws
/// UsageError before anything has started.
RestartResult run_with_restarts(session::Session& session, const RestartSpec& spec);

}  // namespace podrun::restarts
