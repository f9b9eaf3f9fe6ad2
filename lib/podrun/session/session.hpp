// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podrun/base/expect.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/session/mode.hpp"
#include "podrun/session/specs.hpp"

namespace podrun::session {

/// How a run ended.
struct RunResult {
  int status = 0;                                    ///< the exit status
  std::vector<run::HostOutcome> outcomes = {};       ///< of each host of the run
  std::optional<int> interrupted_by = std::nullopt;  ///< the signal
};

/// Runs, one after the other, that reach the same hosts in the same way. Keys are read once and questions
/// asked once; a signal that comes between two runs is the next one's. For one thread.
class Session {
 public:
  enum class Connections { kept, closed };  ///< between two runs

  /// `probe` must outlive it. Throws UsageError.
  Session(const SessionSpec& spec, const hosts::Probe& probe, Connections connections);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Runs to the end of the final report. Both must outlive the call. Throws UsageError before any host is
  /// reached.
  RunResult run(const RunSpec& spec, Mode& mode);

  struct Answer {
    bool is_yes = false;
    int signal = 0;  ///< received instead of an answer; 0: none
  };
  /// Asks on the terminal between two runs. Throws UsageError.
  Answer ask_yes_or_no(const std::string& question);

  /// Waits until then, between two runs. Returns the signal that ended it, if any; SIGPIPE:
  /// SessionSpec::needs_reader. `status`: what the status
  /// line of a terminal says meanwhile.
  std::optional<int> wait_until(run::TimePoint until,
                                const std::function<output::StatusText(run::TimePoint)>& status);

  /// From now on the hosts are these: the same number, in the same order, perhaps at other places. Reads
  /// ssh_config and known_hosts for them. Throws UsageError, and then everything stays.
  void move_to(const std::vector<hosts::Host>& hosts);
  /// What it was made of, with the present hosts.
  const SessionSpec& spec() const;

  /// Prints each of these on standard error, after `podrun: `.
  void say(const std::vector<std::string>& notes);
  /// Prints text on standard output. Returns the exit status: 1 or 141 when it cannot be written.
  int answer(const std::string& text);

  output::Charset charset() const;
  const hosts::Probe& probe() const;
  /// For those that refer to it.
  const Lender& lender() const { return lender_; }

 private:
  struct Shared;
  class Pass;

  const Lender lender_{"a Session outlives those that run something in it"};
  const OneThread thread_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace podrun::session
