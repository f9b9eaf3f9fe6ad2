// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "podrun/output/output.hpp"
#include "podrun/run/run_policy.hpp"

#include "commands/plan.hpp"

namespace podrun::commands {

/// The events of `--json` besides the lines, each once, also when the run starts again after a question.
class JsonReport {
 public:
  explicit JsonReport(const Plan& plan) : plan_(plan), reported_(plan.run.hosts.size()) {}

  void begin(output::Output& output);
  void output_open(output::Output& output, std::size_t host, const remote::Holders& holders, bool waits);
  /// Called after a push to the host has succeeded, before host_ended().
  void sent(output::Output& output, std::size_t host, const report::FilesSent& sent);
  /// Called after files were pulled from the host, before host_ended() or end().
  void received(output::Output& output, std::size_t host, const report::FilesReceived& received);
  /// Called after the host's last line was passed to the output.
  void host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome);
  /// Also reports the hosts that have no exit event yet.
  void end(output::Output& output, const run::RunPolicy& policy, int status);

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds since_start() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
  }
  void report(output::Output& output, std::size_t host, const run::HostOutcome& outcome);

  const Plan& plan_;
  const Clock::time_point start_ = Clock::now();
  bool begun_ = false;
  std::vector<bool> reported_;
};

}  // namespace podrun::commands
