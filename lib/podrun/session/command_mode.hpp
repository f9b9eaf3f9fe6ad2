// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "podrun/output/last_lines.hpp"
#include "podrun/session/mode.hpp"
#include "podrun/session/session.hpp"

namespace podrun::session {

/// The events of `--json` besides the lines, each once, also when the run starts again after a question.
class JsonReport {
 public:
  explicit JsonReport(const RunSpec& run) : run_(run), reported_(run.plan.hosts.size()) {}

  void begin(output::Output& output);
  void output_open(output::Output& output, const run::notice::OutputOpen& open);
  /// Called when the command starts on the host. Reports when it has started wherever it will.
  void started(output::Output& output, const run::RunPolicy& policy, std::size_t host);
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

  const RunSpec& run_;
  const Clock::time_point start_ = Clock::now();
  bool begun_ = false;
  std::vector<bool> reported_;
  std::vector<std::size_t> running_ = {};  ///< workers on which it has started
};

/// The mode of a run of the user's own command: its output as the run's view wants it, the final report, the
/// largest of the hosts' statuses. The arguments must outlive it.
class CommandMode : public Mode {
 public:
  CommandMode(const RunSpec& run, const Session& session);

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override;
  void begin(output::Output& output) override;
  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override;
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override;

 protected:
  /// Called before the host's exit event.
  virtual void host_ended(output::Output& /*output*/, std::size_t /*host*/,
                          const run::HostOutcome& /*outcome*/) {}

  const RunSpec& run_spec() const { return run_; }
  output::Charset charset() const { return session_.charset(); }
  const std::string& called() const { return session_.spec().called; }
  /// None without --json.
  std::optional<JsonReport>& json() { return json_; }

 private:
  void remember_hosts(const run::RunPolicy& policy) const;

  const RunSpec& run_;
  const Session& session_;
  std::optional<JsonReport> json_;
  std::shared_ptr<output::LastLines> last_lines_;
  std::optional<run::TimePoint> started_;  ///< when the first host started
  std::optional<std::string> warning_;     ///< for the moment when the first host starts
};

}  // namespace podrun::session
