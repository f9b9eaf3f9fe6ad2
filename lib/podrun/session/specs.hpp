// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "podrun/base/defaults.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/link/link.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/reach/reach_plan.hpp"
#include "podrun/report/hint.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/status_line_words.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/session/choose_sinks.hpp"
#include "podrun/session/status_display.hpp"
#include "podrun/supervisor/command.hpp"

// Everything that must be known before a session or a run starts, as values.
namespace podrun::session {

/// For SessionSpec::verbosity: podrun says nothing but errors.
constexpr int kQuiet = -1;

/// The hosts, how they are reached, and the limits that hold for every run.
struct SessionSpec {
  std::vector<hosts::Host> hosts = {};
  std::vector<std::string> notes = {};  ///< about the hosts, for the user; the first run prints them
  std::string called = "podrun";        ///< begins a command for the same hosts, in hints: `podrun -H a,b`
  reach::ReachPlan reach = {};
  run::Limits limits = {};  ///< fanout, connect timeout, retries, grace period; else the defaults
  std::chrono::seconds orphan_timeout = kDefaultOrphanTimeout;
  link::Privilege privilege = link::Privilege::user;
  bool attempts_chosen = false;  ///< by the user: quick_answers() takes them as they are
  int verbosity = 0;             ///< kQuiet, or how often -v was given
  StatusStyle status = {};
  std::shared_ptr<output::Terminal> terminal = {};
  bool needs_reader = false;  ///< runs end when nobody reads stdout any more, although they print nothing
  /// Makes the connector of every host, in place of SSH, `via` and this machine's; else empty.
  std::function<std::unique_ptr<link::Connector>(const asio::any_io_executor&)> make_connector = nullptr;
  /// podrun takes signals, asks on the terminal, raises the limit of open files and may exit at once. False:
  /// it is a guest in the process of another program and does none of that.
  bool owns_process = true;
  bool is_last = true;  ///< no other session follows in this process: at its end no signal counts any more
};

/// The session of a program that is not podrun: it takes no signals, asks nothing, prints nothing and never
/// exits. SSH works as for the user of this process, with ~/.ssh. The program must ignore SIGPIPE. `probe`
/// must outlive the session. Throws UsageError.
SessionSpec guest_session(std::vector<hosts::Host> hosts, const hosts::Probe& probe,
                          const ssh::SshCommandLine& command_line = {});

/// One run: what is executed on which hosts, and what reports say of it.
struct RunSpec {
  run::RunPlan plan = {};
  supervisor::Command command = {
      supervisor::Words{}};  ///< the user's, for reports; podrun's own has no words
  report::Work work = report::Work::command;
  std::optional<report::FilesToSend> files = std::nullopt;
  std::string name_of_job = {};         ///< the job that the run starts or reads; empty: none
  std::vector<std::string> notes = {};  ///< printed when the run begins
  View view = {};
  std::vector<hosts::Host> shown = {};  ///< whose output it shows; empty: that of its own hosts
  bool feeds_input = false;             ///< standard input is copied to every host
  bool input_unsent = false;  ///< standard input has no use in this run, which may surprise the user
  std::string home = {};      ///< of the user of this machine
  report::RemoteBy remote_by = report::RemoteBy::ssh;
  /// How to run again on these workers; empty: it cannot be said.
  std::function<std::string(const std::string& workers)> retry_command = nullptr;
  bool reports_first_failures = false;  ///< at once, while others go on, where no status line shows them
  bool remembers_silent = false;        ///< while it goes on, see SilenceWatch
  bool enter_lists_hosts = true;  ///< else the lines that are typed during the run are for a later prompt
  std::optional<report::TryNumber> number = std::nullopt;  ///< of a command that may start again
  /// Whether this was certainly the last try, for --json; null: it was.
  std::function<bool(const run::RunPolicy&, int status)> is_last_try = nullptr;
  report::OwnWordsFor own_words = nullptr;  ///< while podrun's own script runs; null: as for a command
  run::OutputFilter* filter = nullptr;      ///< takes what is meant for podrun out of the output
};

/// The hosts whose output the run shows.
inline const std::vector<hosts::Host>& shown_hosts(const RunSpec& run) {
  return run.shown.empty() ? run.plan.hosts : run.shown;
}

/// The user's command on every host: all start it, or none. Throws UsageError when it is too long.
RunSpec users_command(const SessionSpec& session, supervisor::Command command);

/// Work of podrun's own on every host, or on none.
RunSpec all_or_nothing(const SessionSpec& session, supervisor::RemoteCommand command);

/// A program of podrun's own on every host that can be reached, for at most `time`.
RunSpec whoever_answers(const SessionSpec& session, supervisor::RemoteCommand command,
                        std::optional<std::chrono::milliseconds> time);

/// How long after a signal hosts may go on with work of podrun's own, which loses nothing when it is cut
/// short.
inline constexpr std::chrono::milliseconds kPatience{2'500};

/// whoever_answers() for a user who waits for it: no host that hangs holds back the answers of the others. A
/// host that is silent has one attempt, and is late after kLateAfter (run::Limits::late_after). Interrupted,
/// hosts have a second between TERM and KILL, and kPatience.
RunSpec quick_answers(const SessionSpec& session, supervisor::RemoteCommand command,
                      std::optional<std::chrono::milliseconds> time);
inline constexpr std::chrono::seconds kLateAfter{3};

/// The run for these of its hosts (indexes), with a run id of its own and without its notes.
RunSpec with_hosts(RunSpec run, const std::vector<std::size_t>& indexes);

}  // namespace podrun::session
