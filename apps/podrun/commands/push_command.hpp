// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "podrun/files/push.hpp"

#include "cli/podrun_command.hpp"
#include "commands/plan.hpp"
#include "commands/run_sequence.hpp"

namespace podrun::commands {

std::unique_ptr<cli::Command> make_push_command();

/// A copy of local files to every host of a plan.
class PlannedPush {
 public:
  /// Reads the local files. The options must outlive it. Throws UsageError.
  PlannedPush(files::PushRequest request, Plan found, const cli::Options& options);

  const Plan& plan() const { return plan_; }
  /// Makes the copy, and says how that went. Call once. The exit status.
  int run(RunSequence& sequence, const hosts::Probe& probe);

 private:
  const cli::Options& options_;
  Plan plan_;
  files::Push push_;
};

}  // namespace podrun::commands
