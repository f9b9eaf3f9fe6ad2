// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "podrun/base/expect.hpp"
#include "podrun/kill/kill_choice.hpp"
#include "podrun/kill/kill_report.hpp"
#include "podrun/session/ask_hosts.hpp"

namespace podrun::kill {

struct KillPlan {
  KillRequest request = {};
  /// After TERM, for a program to close its accelerators: libtpu may be slow.
  std::chrono::seconds time_to_close{30};
};

/// Lists the processes that have accelerators of the hosts open, and stops those that the request means. For
/// a program that shows and asks by itself; run_kill() does both.
class KillRun {
 public:
  /// `session`: with connections that are kept.
  KillRun(session::Session& session, KillPlan plan);

  /// Asks all hosts. `shows_early`: what has come so far, while late hosts hold it up, see
  /// session::ask_hosts(). Throws UsageError before any host is reached.
  const session::Answers& list(bool shows_early);
  /// Stops them, on all hosts that have answered at the same moment, and looks again. After list().
  void stop();

  const std::vector<hosts::Host>& hosts() const { return list_run_.plan.hosts; }
  /// The processes of the hosts that have answered: as list() found them, and as they are after stop().
  const std::vector<ListedHost>& before() const { return before_; }
  const std::vector<ListedHost>& after() const { return after_; }
  const std::vector<run::HostOutcome>& outcomes() const { return outcomes_; }
  bool has_victims() const;
  /// The exit status of podrun kill; `interrupted_by` has the signal that ended the last step.
  int status() const { return status_; }
  const std::optional<int>& interrupted_by() const { return interrupted_by_; }

  /// The lines of describe_choices().
  std::string describe(const std::vector<ListedHost>& listed) const;

 private:
  std::vector<ListedHost> read(const run::RunPlan& plan, const session::Answers& answers) const;
  void name_silent(const run::RunPlan& plan, const std::vector<ListedHost>& listed,
                   const session::RunResult& result);

  session::Session& session_;
  const Borrowed session_lives_;
  const KillPlan plan_;
  const session::RunSpec list_run_;
  session::Answers first_ = {};
  std::vector<ListedHost> before_ = {};
  std::vector<ListedHost> after_ = {};
  std::vector<run::HostOutcome> outcomes_ = {};
  std::optional<int> interrupted_by_ = std::nullopt;
  Once listing_;
  int status_ = 0;
};

/// What `podrun kill` shows, and whether it asks.
struct KillView {
  bool json = false;
  bool only_lists = false;
  bool asks = true;  ///< on the terminal, before it stops anything
};

/// Makes the run, asks and prints. The exit status: 1 if an accelerator stays busy, or if there is no answer
/// to the question. Throws UsageError.
int run_kill(session::Session& session, const KillPlan& plan, const KillView& view);

}  // namespace podrun::kill
