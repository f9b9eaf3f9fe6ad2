// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "podrun/output/status_line.hpp"

#include "cli/podrun_command.hpp"
#include "commands/mode.hpp"
#include "commands/plan.hpp"

namespace podrun::commands {

/// The plan that it is given is the run's, and outlives what is made.
using MakeMode = std::function<std::unique_ptr<Mode>(const Plan& plan, output::Charset charset)>;

/// Runs, one after the other, that reach the same hosts in the same way. Keys are read once and questions
/// asked once; a signal that comes between two runs is the next one's.
class RunSequence {
 public:
  enum class Connections { kept, closed };  ///< between two runs

  /// `plan`: of any of the runs. Throws UsageError.
  RunSequence(const Plan& plan, const cli::Context& context, Connections connections);
  RunSequence(const RunSequence&) = delete;
  RunSequence& operator=(const RunSequence&) = delete;
  ~RunSequence();

  /// Runs a plan to its end. The exit status.
  int run(Plan plan, const cli::Options& options, const MakeMode& make_mode);

  struct Answer {
    bool is_yes = false;
    int signal = 0;  ///< that came instead of an answer
  };
  /// Asks on the terminal between two runs. Throws UsageError.
  Answer ask_yes_or_no(const std::string& question);

  output::Charset charset() const;

 private:
  struct Shared;
  struct Run;
  class Attempt;

  std::unique_ptr<Shared> shared_;
};

/// A single run, or its description with --dry-run. The exit status.
int start_plan(Plan plan, const cli::Context& context, const MakeMode& make_mode);

}  // namespace podrun::commands
