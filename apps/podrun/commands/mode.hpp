// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "podrun/output/output.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/run/notice.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/run/status.hpp"

namespace podrun::commands {

/// See run::RunWorld.
using PrepareHost = std::function<asio::awaitable<void>(std::size_t host, remote::Supervised&)>;

/// What a mode may do with its run while that waits (run::Limits::held). For the main thread, until the run
/// ends.
struct WaitingRun {
  asio::any_io_executor executor;
  /// Starts the commands, see run::FanOut.
  std::function<void(std::string text, std::vector<std::string> texts_of_hosts)> release;
  std::function<void()> cancel;
};

/// Gives a run its sinks, its final report and its exit status; one for each podrun command. For the main
/// thread; the results of its sinks may be read when the output is drained.
class Mode {
 public:
  Mode() = default;
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;
  virtual ~Mode() = default;

  /// Called once for every attempt: a run starts again after the user has answered a question. The terminal
  /// outlives the sinks.
  virtual std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) = 0;
  virtual void begin(output::Output& /*output*/) {}
  void tell(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) {
    if (const auto* started = std::get_if<run::notice::Started>(&notice)) {
      host_started(output, started->host);
    } else if (const auto* ready = std::get_if<run::notice::Ready>(&notice)) {
      host_ready(ready->host);
    } else if (const auto* open = std::get_if<run::notice::OutputOpen>(&notice)) {
      output_open(output, open->host, open->holders, open->fate == run::notice::OutputOpen::Fate::waits);
    } else if (const auto* ended = std::get_if<run::notice::HostEnded>(&notice)) {
      host_ended(output, ended->host, policy.outcomes()[ended->host]);
    }
  }
  /// The host waits for go.
  virtual void host_ready(std::size_t /*host*/) {}
  /// The host is told to go.
  virtual void host_started(output::Output& /*output*/, std::size_t /*host*/) {}
  /// Its command ended and its output stays open; `waits`: the run goes on for it.
  virtual void output_open(output::Output& /*output*/, std::size_t /*host*/,
                           const remote::Holders& /*holders*/, bool /*waits*/) {}
  virtual void host_ended(output::Output& /*output*/, std::size_t /*host*/,
                          const run::HostOutcome& /*outcome*/) {}

  /// Work on each host before it is ready, such as copying files; empty if there is none.
  virtual PrepareHost preparation() { return nullptr; }
  virtual link::Stage preparation_stage() const { return link::Stage::copying; }
  /// The progress of copying files; nothing if the mode copies none.
  virtual std::optional<run::TransferStatus> transfer() const { return std::nullopt; }

  /// Takes out of the output what is meant for podrun; null: nothing is.
  virtual run::OutputFilter* output_filter() { return nullptr; }
  /// Called once, when all hosts of a held run are ready or have failed.
  virtual void wait(output::Output& /*output*/, const WaitingRun& /*run*/) {}
  /// Whether the lines that are typed during the run are for a prompt after it. Else Enter lists the hosts.
  virtual bool leaves_typed_lines() const { return false; }
  /// Whether the user is typing on the terminal, so that nothing else may be shown there.
  virtual bool has_terminal() const { return false; }
  /// Whether the mode has acted on the signal, which is not the run's then.
  virtual bool takes_signal(int /*signal*/) { return false; }

  /// What the user must agree to before the run can succeed; empty: nothing. It starts again after agree().
  virtual std::string question() const { return {}; }
  virtual void agree() {}

  /// Prints the final report. All output of the hosts is written before.
  virtual void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) = 0;
  /// Called when everything has ended, before and after print_final_report().
  virtual int status(const run::RunPolicy& policy) const = 0;

  /// Whether the first failures are reported while others go on, where no status line shows them.
  virtual bool reports_first_failures() const { return false; }
  /// How long after a signal the hosts may go on before they are left; none: as long as a command may need.
  virtual std::optional<std::chrono::milliseconds> patience() const { return std::nullopt; }
};

}  // namespace podrun::commands
