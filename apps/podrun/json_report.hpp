// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "podrun/output/output.hpp"
#include "podrun/run/run_policy.hpp"

#include "plan.hpp"

namespace podrun {

/// The events of `--json` besides the lines, each once, also when the run is begun anew after a question.
class JsonReport {
 public:
  explicit JsonReport(const Plan& plan) : plan_(plan), reported_(plan.run.hosts.size()) {}

  void begin(Output& output);
  /// Its last line was given to the output.
  void host_ended(Output& output, std::size_t host, const HostOutcome& outcome);
  /// Of the hosts that have nothing reported yet too.
  void end(Output& output, const RunPolicy& policy, int status);

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds since_start() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
  }
  void report(Output& output, std::size_t host, const HostOutcome& outcome);

  const Plan& plan_;
  const Clock::time_point start_ = Clock::now();
  bool begun_ = false;
  std::vector<bool> reported_;
};

}  // namespace podrun
