// SPDX-License-Identifier: Apache-2.0
// The kinds of runs. Each starts from what the session says of every run and adds only its own, so that
// no command has to undo a setting that was not meant for it.
#include "podrun/session/specs.hpp"

#include <fcntl.h>

#include <utility>

#include "podrun/base/descriptor.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::session {
namespace {

/// kPatience is longer by the time that hosts need to report their end.
constexpr std::chrono::seconds kShortGrace{1};
static_assert(kShortGrace < kPatience);

RunSpec begin_spec(const SessionSpec& session, supervisor::RemoteCommand command) {
  RunSpec run;
  run.plan.run_id = supervisor::random_id();
  run.plan.hosts = session.hosts;
  run.plan.command = std::move(command);
  run.plan.limits = session.limits;
  run.plan.supervision.grace = session.limits.grace;
  run.plan.supervision.orphan_timeout = session.orphan_timeout;
  run.plan.supervision.privilege = session.privilege;
  run.plan.verbosity = session.verbosity;
  if (!session.reach.via.empty()) run.remote_by = report::RemoteBy::via;
  return run;
}

}  // namespace

SessionSpec guest_session(std::vector<hosts::Host> hosts, const hosts::Probe& probe,
                          const ssh::SshCommandLine& command_line) {
  static const Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  SessionSpec session;
  session.hosts = std::move(hosts);
  session.reach = reach::plan_reach(command_line, probe);
  reach::find_settings(session.reach, session.hosts, session.limits);
  session.terminal = std::make_shared<output::Terminal>(nowhere.get(), nowhere.get());
  session.owns_process = false;
  return session;
}

RunSpec users_command(const SessionSpec& session, supervisor::Command command) {
  RunSpec run = begin_spec(session, supervisor::build_command(command));
  run.command = std::move(command);
  run.reports_first_failures = true;
  run.remembers_silent = true;
  return run;
}

RunSpec all_or_nothing(const SessionSpec& session, supervisor::RemoteCommand command) {
  RunSpec run = begin_spec(session, std::move(command));
  run.plan.limits.may_wait_for_each_other = false;
  return run;
}

RunSpec whoever_answers(const SessionSpec& session, supervisor::RemoteCommand command,
                        std::optional<std::chrono::milliseconds> time) {
  RunSpec run = begin_spec(session, std::move(command));
  run.work = report::Work::answers;
  run.plan.limits.on_unreachable = run::OnUnreachable::skip;
  run.plan.limits.may_wait_for_each_other = false;
  run.plan.limits.timeout = time;
  return run;
}

RunSpec quick_answers(const SessionSpec& session, supervisor::RemoteCommand command,
                      std::optional<std::chrono::milliseconds> time) {
  RunSpec run = whoever_answers(session, std::move(command), time);
  run.plan.limits.retries_timeouts = session.attempts_chosen;
  run.plan.limits.late_after = kLateAfter;
  run.plan.limits.grace = run.plan.supervision.grace = kShortGrace;
  run.plan.limits.patience = kPatience;
  return run;
}

RunSpec with_hosts(RunSpec run, const std::vector<std::size_t>& indexes) {
  const std::vector<hosts::Host> all = std::exchange(run.plan.hosts, {});
  for (const std::size_t i : indexes) run.plan.hosts.push_back(all[i]);
  run.plan.run_id = supervisor::random_id();
  run.notes.clear();
  return run;
}

}  // namespace podrun::session
