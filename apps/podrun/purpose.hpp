// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "podrun/output/output.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/run/run_policy.hpp"

namespace podrun {

/// What a run is for: who takes the hosts' output, what is said of it, and the exit status. One for each
/// podrun command. For the main thread; what its sinks have found may be read when the output is drained.
class Purpose {
 public:
  Purpose() = default;
  Purpose(const Purpose&) = delete;
  Purpose& operator=(const Purpose&) = delete;
  virtual ~Purpose() = default;

  /// Of each attempt: a run begins anew when a question was answered. The terminal outlives them.
  virtual std::vector<std::shared_ptr<Sink>> make_sinks(Terminal& terminal) = 0;
  virtual void begin(Output& /*output*/) {}
  /// The host is told to go.
  virtual void host_started(Output& /*output*/, std::size_t /*host*/) {}
  virtual void host_ended(Output& /*output*/, std::size_t /*host*/, const HostOutcome& /*outcome*/) {}

  /// Says the last words. All that the hosts have printed is written.
  virtual void conclude(Output& output, const RunPolicy& policy, int status) = 0;
  /// Asked when everything has ended, before and behind conclude().
  virtual int status(const RunPolicy& policy) const = 0;

  /// How long after a signal the hosts may go on before they are left; none: as long as a command may need.
  virtual std::optional<std::chrono::milliseconds> patience() const { return std::nullopt; }
};

}  // namespace podrun
