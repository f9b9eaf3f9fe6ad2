// SPDX-License-Identifier: Apache-2.0
// A task as a sequence of copies and runs. Each begins when the one before it has succeeded on all hosts.
#include "podrun/launch/task_run.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/session/command_mode.hpp"
#include "podrun/transfer/git_address.hpp"

namespace podrun::launch {
namespace {

/// `what`, and the text indented below it.
std::string describe_step(std::string_view what, std::string_view text) {
  std::string description = fmt::format("{}, by bash in {}:\n", what, tasks::kWorkdir);
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n'))
    description +=
        fmt::format("{}{}\n", line.empty() ? "" : "    ", output::escape_controls(line, output::Tabs::keep));
  return description;
}

PlannedCopy plan_copy(const tasks::Copy& copy, std::string what) {
  namespace fs = std::filesystem;
  check_current_directory(copy.where, copy.source);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(copy.source, error)))
    throw UsageError(fmt::format("{}: \"{}\": no such file or directory here", copy.where, copy.source));
  std::string source = copy.source;
  // A directory's contents go into the target, as in SkyPilot.
  if (fs::is_directory(source, error) && !source.ends_with('/')) source += '/';
  PlannedCopy planned;
  planned.what = std::move(what);
  planned.source = source;
  planned.request.tree.skyignore = true;
  planned.request.tree.sources.push_back(std::move(source));
  planned.request.target = copy.target;
  return planned;
}

}  // namespace

std::vector<PlannedCopy> plan_copies(const tasks::Task& task, bool only_workdir) {
  std::vector<PlannedCopy> copies;
  if (task.repository && task.workdir->source.empty()) {  // a dry run clones nothing
    copies.push_back({"workdir", describe(*task.repository), {}});
    copies.back().request.target = task.workdir->target;
  } else if (task.workdir) {
    copies.push_back(plan_copy(*task.workdir, "workdir"));
    if (task.repository) copies.back().source = describe(*task.repository);
    if (!copies.back().request.tree.sources.front().ends_with('/')) {
      throw UsageError(fmt::format("{}: \"{}\" is no directory (expected one of this machine)",
                                   task.workdir->where, task.workdir->source));
    }
  }
  if (only_workdir) return copies;
  for (const tasks::Copy& mount : task.mounts) copies.push_back(plan_copy(mount, mount.target));
  return copies;
}

std::string describe(const tasks::Repository& repository) {
  return transfer::shown_url(repository.url) + (repository.ref.empty() ? "" : " at " + repository.ref);
}

std::string describe(const TaskPlan& plan) {
  std::string text = plan.surroundings;
  for (const PlannedCopy& copy : plan.copies)
    text += fmt::format("copy {} to {}\n", output::escape_controls(copy.source),
                        output::escape_controls(copy.request.target));
  if (plan.setup) text += describe_step("setup", plan.task.setup.text);
  const std::string what = plan.job ? fmt::format("run, as the job {}", plan.job->name) : "run";
  if (plan.run) text += describe_step(what, plan.task.run.text);
  return text;
}

std::vector<std::string> notes_on_targets(const std::vector<PlannedCopy>& copies) {
  std::vector<std::string> notes;
  for (const PlannedCopy& copy : copies) {
    const std::string target = std::filesystem::path(copy.request.target + '/').lexically_normal();
    if (target.starts_with(fmt::format("{}/", tasks::kWorkdir))) continue;
    notes.push_back(fmt::format("{} is copied to {} on the hosts, outside {}", copy.source,
                                copy.request.target, tasks::kWorkdir));
  }
  return notes;
}

/// A step, and what surrounds it.
struct TaskRun::Place {
  tasks::Step step;
  bool is_announced;  ///< setup and run are both there, so that the reader must be told which one prints
  bool run_follows;
};

/// How the step ended, for the final report; none where there is nothing to add to it.
std::optional<std::string> TaskRun::describe_end(const Place& place, const run::RunPolicy& policy) {
  const std::vector<run::HostOutcome>& outcomes = policy.outcomes();
  const std::string_view name = tasks::name_of(place.step);
  const std::string rest = place.run_follows ? "; run was not started" : "";
  if (policy.interrupted_by() == SIGPIPE) return std::nullopt;
  if (policy.interrupted_by()) return fmt::format("podrun: {} was interrupted{}", name, rest);
  if (std::none_of(outcomes.begin(), outcomes.end(), run::may_have_run))
    return fmt::format("podrun: {} was not started{}", name, place.run_follows ? ", nor was run" : "");
  const auto failed =
      static_cast<std::size_t>(std::count_if(outcomes.begin(), outcomes.end(), run::is_failure));
  if (failed > 0) return fmt::format("podrun: {} failed on {}{}", name, count_hosts(failed), rest);
  return place.run_follows ? std::optional<std::string>("podrun: run was not started") : std::nullopt;
}

/// The mode of a step, which is announced and says at its end which one it was.
class TaskRun::StepMode final : public session::CommandMode {
 public:
  StepMode(const session::RunSpec& run, const session::Session& session, const Place& place)
      : CommandMode(run, session), place_(place) {}

  void begin(output::Output& output) override {
    if (place_.is_announced && !std::exchange(begun_, true))
      output.say(fmt::format("podrun: {}", tasks::name_of(place_.step)));
    CommandMode::begin(output);
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    CommandMode::print_final_report(output, policy, status);
    if (status == 0) return;
    if (auto line = describe_end(place_, policy)) output.say(std::move(*line));
  }

 private:
  const Place place_;
  bool begun_ = false;
};

TaskRun::TaskRun(const TaskPlan& plan) : plan_(plan), may_send_private_(plan.may_send_private) {
  for (const PlannedCopy& copy : plan.copies)
    copies_.push_back(copy.request.tree.sources.empty() ? nullptr : this->plan(copy));
}

int TaskRun::play(session::Session& session) {
  playing_.call("TaskRun::play() is called once");
  // Before anything is copied over the code of the job that runs.
  if (plan_.job) {
    if (const auto status = jobs::say_if_taken(session, plan_.session, plan_.job->name)) return *status;
  }
  for (const std::unique_ptr<transfer::PushRun>& copy : copies_) {
    if (const std::optional<int> status = copy->confirm(session)) return *status;
  }
  may_send_private_ = true;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    const std::string& what = plan_.copies[i].what;
    if (i > 0) copies_[i] = plan(plan_.copies[i]);  // the files may have changed during the others
    if (copies_.size() > 1) plan_.note(what);
    const int status = copies_[i]->run(session);
    copies_[i].reset();
    if (status == 0) continue;
    say_not_copied(session, what);
    return status;
  }
  return run_steps(session);
}

std::unique_ptr<transfer::PushRun> TaskRun::plan(const PlannedCopy& copy) const {
  transfer::PushRequest request = copy.request;
  request.spread.spreading = plan_.spreading;
  request.may_send_private = may_send_private_;
  request.tree.home = plan_.home;
  return std::make_unique<transfer::PushRun>(std::move(request), plan_.session, plan_.copy_view,
                                             plan_.repeat);
}

int TaskRun::run_steps(session::Session& session) {
  const bool has_run = plan_.run.has_value();
  if (!plan_.setup) {
    const Place alone{.step = tasks::Step::run, .is_announced = false, .run_follows = false};
    return has_run ? start_run(session, *plan_.run, alone) : 0;
  }
  const Place setup{.step = tasks::Step::setup, .is_announced = has_run, .run_follows = has_run};
  const int status = start(session, *plan_.setup, setup);
  if (status != 0 || !has_run) return status;
  session::RunSpec spec = *plan_.run;
  spec.view.earlier = output::EarlierOutput::append;  // --outdir has the output of setup already
  const Place run{.step = tasks::Step::run, .is_announced = true, .run_follows = false};
  return start_run(session, spec, run);
}

int TaskRun::start_run(session::Session& session, const session::RunSpec& run, const Place& place) {
  if (plan_.restarts) {
    if (place.is_announced) session.say({std::string(tasks::name_of(place.step))});
    return run_with_restarts(session, run);
  }
  if (!plan_.job) return start(session, run, place);
  const int status = jobs::start_job(session, plan_.session, run, *plan_.job).status;
  has_started_job_ = status == 0;
  return status;
}

int TaskRun::run_with_restarts(session::Session& session, const session::RunSpec& run) {
  restarts::RestartSpec spec = *plan_.restarts;
  spec.make_run = [&](const session::SessionSpec& now, const std::vector<supervisor::Variable>& first) {
    session::RunSpec made = plan_.make_step(now, restarts::with_variables(run.command, first));
    made.plan.supervision.preparations = run.plan.supervision.preparations;
    made.view.earlier = run.view.earlier;
    return made;
  };
  restarted_ = restarts::run_with_restarts(session, spec);
  return restarted_->status;
}

int TaskRun::start(session::Session& session, const session::RunSpec& run, const Place& place) {
  StepMode mode(run, session, place);
  return session.run(run, mode).status;
}

void TaskRun::say_not_copied(session::Session& session, std::string_view what) const {
  std::vector<std::string> missed;
  if (plan_.setup) missed.emplace_back("setup");
  if (plan_.run) missed.emplace_back("run");
  const std::string rest = missed.empty() ? ""
                                          : fmt::format("; {} {} not started", join(missed, " and "),
                                                        missed.size() == 1 ? "was" : "were");
  session.say({fmt::format("{} was not copied{}", what, rest)});
}

}  // namespace podrun::launch
