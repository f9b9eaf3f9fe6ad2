// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/expect.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/restarts/restarted_run.hpp"
#include "podrun/session/session.hpp"
#include "podrun/tasks/task.hpp"
#include "podrun/transfer/push.hpp"

namespace podrun::launch {

/// One copy, as `podrun push` makes it.
struct PlannedCopy {
  std::string what;    ///< `workdir`, or the target of a file mount
  std::string source;  ///< as the user knows it
  transfer::PushRequest request;
};

/// The copies of a task: its workdir, and its mounts unless `only_workdir`. Throws UsageError.
std::vector<PlannedCopy> plan_copies(const tasks::Task& task, bool only_workdir);

/// All that is known before anything starts.
struct TaskPlan {
  tasks::Task task;
  std::string surroundings = {};  ///< the hosts and the environment as text, for describe()
  session::SessionSpec session;
  std::vector<PlannedCopy> copies;
  std::optional<session::RunSpec> setup;
  std::optional<session::RunSpec> run;
  std::optional<jobs::JobStart> job = std::nullopt;              ///< which `run` becomes
  std::optional<restarts::RestartSpec> restarts = std::nullopt;  ///< of `run`; make_run is set by TaskRun
  std::function<session::RunSpec(const session::SessionSpec&, supervisor::Command)> make_step = nullptr;
  session::View copy_view = {};                                     ///< of the copies
  transfer::Spreading spreading = transfer::Spreading::impossible;  ///< of the copies
  bool may_send_private = false;  ///< without a question, see PushRun::confirm()
  std::string home = {};          ///< the user's home directory
  std::function<std::string(const std::string&)> repeat = nullptr;  ///< the command for these workers
  std::function<void(const std::string&)> note = [](const std::string&) {};  ///< told before each copy
};

/// The plan as text, for --dry-run: surroundings, copies, setup and run.
std::string describe(const TaskPlan& plan);
/// `https://github.com/a/b.git at v1`
std::string describe(const tasks::Repository& repository);
/// The copies whose targets are outside the directory of the task: a task file of others may aim at
/// `~/.ssh/authorized_keys`.
std::vector<std::string> notes_on_targets(const std::vector<PlannedCopy>& copies);

/// Makes the copies and runs the steps, each on all hosts, until one fails.
class TaskRun {
 public:
  /// Reads the files that are to be copied. `plan` must outlive it. Throws UsageError.
  explicit TaskRun(const TaskPlan& plan);

  /// The exit status. `session`: of the plan, with connections that are kept.
  int play(session::Session& session);

  /// How `run` ended, if it ran with restarts.
  const std::optional<restarts::RestartResult>& restarted() const { return restarted_; }
  bool has_started_job() const { return has_started_job_; }

 private:
  /// A step, and what surrounds it.
  struct Place;
  class StepMode;

  static std::optional<std::string> describe_end(const Place& place, const run::RunPolicy& policy);
  std::unique_ptr<transfer::PushRun> plan(const PlannedCopy& copy) const;
  int run_steps(session::Session& session);
  int start_run(session::Session& session, const session::RunSpec& run, const Place& place);
  int run_with_restarts(session::Session& session, const session::RunSpec& run);
  static int start(session::Session& session, const session::RunSpec& run, const Place& place);
  void say_not_copied(session::Session& session, std::string_view what) const;

  Once playing_;
  const TaskPlan& plan_;
  bool may_send_private_;  ///< the user agreed
  std::vector<std::unique_ptr<transfer::PushRun>> copies_ = {};
  std::optional<restarts::RestartResult> restarted_ = std::nullopt;
  bool has_started_job_ = false;
};

}  // namespace podrun::launch
