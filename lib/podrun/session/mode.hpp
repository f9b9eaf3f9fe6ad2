// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/output/output.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/run/fan_out.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/run/status.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::session {

/// Work on each host before it is ready, such as copying files.
class HostPreparation {
 public:
  HostPreparation() = default;
  HostPreparation(const HostPreparation&) = delete;
  HostPreparation& operator=(const HostPreparation&) = delete;
  virtual ~HostPreparation() = default;

  /// Called once for every pass of the run, before prepare().
  virtual void begin_pass(output::Output& /*output*/) {}
  /// Throws link::HostError.
  virtual asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) = 0;
  /// The stage that a host is in during prepare().
  virtual link::Stage stage() const = 0;
  /// Adds to the status what the run does not know of this work.
  virtual void complete(run::Status& /*status*/) const {}
  /// The question that the user must agree to before the run can succeed; empty: none. The run starts again
  /// after agree().
  virtual std::string question() const { return {}; }
  virtual void agree() {}
};

/// The use of a held run (run::Limits::held) while its hosts wait at the barrier.
class HeldRun {
 public:
  /// For the main thread, until the run ends.
  struct Controls {
    asio::any_io_executor executor;
    /// Starts the commands, see run::FanOut.
    std::function<void(std::string text, std::vector<std::string> texts_of_hosts)> release;
    std::function<void()> cancel;
  };

  HeldRun() = default;
  HeldRun(const HeldRun&) = delete;
  HeldRun& operator=(const HeldRun&) = delete;
  virtual ~HeldRun() = default;

  /// Called once, when all hosts are ready or have failed.
  virtual void all_wait(output::Output& output, const Controls& controls) = 0;
  /// True while the user is typing on the terminal, so that nothing else may be shown there.
  virtual bool has_terminal() const = 0;
  /// True if it has acted on the signal, which then is not the run's.
  virtual bool takes_signal(int signal) = 0;
};

/// A look at a run now and then, from its start to its end.
class RunWatch {
 public:
  RunWatch() = default;
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  virtual ~RunWatch() = default;

  /// Called a second after the last look has ended. It must end soon when the run has, see run_over().
  virtual asio::awaitable<void> look(run::FanOut& fan_out, output::Output& output) = 0;

  /// Bytes of a host have come over the network; without bytes podrun reads from it again after a pause, so
  /// the time before says nothing.
  virtual void received(std::size_t /*host*/, StreamId /*stream*/, std::string_view /*bytes*/) {}

  /// The run has ended: look() must end soon.
  virtual void run_over() {}
  /// podrun is about to be suspended, or to exit at once: gives the terminal back.
  virtual void hide(output::Output& /*output*/) {}
  /// podrun goes on after hide().
  virtual void show(output::Output& /*output*/) {}
};

/// The choices of a podrun command about its run: its sinks, its report and its exit status. For the main
/// thread; the results of its sinks may be read when the output is drained.
class Mode {
 public:
  Mode() = default;
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;
  virtual ~Mode() = default;

  /// Called once for every pass: a run starts again after the user has answered a question. The terminal
  /// outlives the sinks.
  virtual std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) = 0;

  /// Called when a pass begins.
  virtual void begin(output::Output& /*output*/) {}
  virtual void notice(output::Output& /*output*/, const run::RunPolicy& /*policy*/,
                      const run::Notice& /*notice*/) {}
  /// Prints the final report. All output of the hosts is written before.
  virtual void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) = 0;

  /// The exit status of the run. Called when everything has ended, before and after print_final_report().
  virtual int status(const run::RunPolicy& policy) const;

  /// Optional parts, which the mode owns.
  virtual HostPreparation* preparation() { return nullptr; }
  virtual HeldRun* held_run() { return nullptr; }
  virtual RunWatch* watch() { return nullptr; }
};

}  // namespace podrun::session
