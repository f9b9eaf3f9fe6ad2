// SPDX-License-Identifier: Apache-2.0
// `podrun launch` and `podrun exec`: a task file and the options that shape it.
#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/config/task_file.hpp"
#include "podrun/launch/task_run.hpp"
#include "podrun/supervisor/supervised.hpp"
#include "podrun/tasks/task.hpp"
#include "podrun/transfer/clone.hpp"

#include "cli/job_keepers.hpp"
#include "cli/job_names.hpp"
#include "cli/restart_rows.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

enum class Kind { launch, exec };

/// A step on all hosts or on none; the first failure stops it everywhere.
session::RunSpec plan_step(const session::SessionSpec& spec, supervisor::Command command,
                           const cli::Context& context) {
  session::RunSpec run = cli::users_command(context.probe, spec, std::move(command));
  run.plan.limits.on_failure = run::OnFailure::stop_others;
  run.plan.limits.timeout = context.options.limits.timeout;
  run.view = cli::view(context.options);
  run.work = report::Work::task;
  return run;
}

class TaskCommand final : public cli::Command {
 public:
  explicit TaskCommand(Kind kind) : kind_(kind) {}

  void check(cli::Options& options, const cli::OptionTable& table) override {
    cli::check_restarts(options, table);
  }

  int run(const cli::Context& context) override {
    const launch::TaskPlan plan = make_plan(context);
    launch::TaskRun run(plan);
    if (context.options.dry_run)
      return context.answer(cli::describe_restarts(context.options) + launch::describe(plan));
    context.note(launch::notes_on_targets(plan.copies));
    const int status = play(run, plan, context);
    if (run.has_started_job()) cli::note_started(plan.job->name, plan.session.hosts, context.probe);
    if (run.restarted()) {
      session::Ended ended = restarts::ended(*run.restarted(), context.options.may_restart);
      ended.job = plan.task.name;
      return context.tell_end(ended);
    }
    const bool is_interrupted = status == 128 + SIGINT || status == 128 + SIGTERM || status == 128 + SIGHUP;
    return context.tell_end({.status = status,
                             .is_interrupted = is_interrupted,
                             .hosts = plan.session.hosts,
                             .job = plan.task.name});
  }

 private:
  static int play(launch::TaskRun& run, const launch::TaskPlan& plan, const cli::Context& context) {
    if (plan.job) {
      if (const auto status = cli::say_if_kept(context, plan.job->name, cli::EndedName::is_taken))
        return *status;
    }
    session::Session session(plan.session, context.probe, session::Session::Connections::kept);
    return run.play(session);
  }

  /// Finds every error of usage. Nothing has started.
  launch::TaskPlan make_plan(const cli::Context& context) const {
    const hosts::Probe& probe = context.probe;
    const std::string& path = context.options.operands.front();
    const std::optional<std::string> text = probe.read_file(path);
    if (!text) {
      throw UsageError(fmt::format("{}: there is no file \"{}\" (expected a task file{})",
                                   kind_ == Kind::launch ? "launch" : "exec", path,
                                   kind_ == Kind::launch ? "" : "; a command: podrun -- COMMAND"));
    }
    const config::TaskFile file = config::parse_task_file(*text, path);
    launch::TaskPlan plan;
    plan.task = tasks::make_task(file, {.variables = cli::make_environment(context.options, probe),
                                        .env = [&probe](const std::string& name) { return probe.env(name); },
                                        .home = probe.env("HOME").value_or("")});
    check_image(file, context.options);
    if (plan.task.repository && !context.options.dry_run) clone(plan.task, context);
    plan.copies = launch::plan_copies(plan.task, kind_ == Kind::exec);
    plan_steps(plan, file, context);
    if (context.options.detach) plan.job = make_job(plan, path);
    context.note(std::exchange(plan.session.notes, {}));
    if (!file.ignored.empty()) {
      context.note(
          {fmt::format("{}: ignored, since only a cloud can do it: {}", path, join(file.ignored, ", "))});
    }
    if (!file.hooks.empty()) {
      context.note({fmt::format("{}: not run, so they save no checkpoint (save it in run): {}", path,
                                join(file.hooks, ", "))});
    }
    context.note(tasks::notes_on_variables(file, plan.task));
    return plan;
  }

  /// A task for an image may need what is in the image, so it does not run elsewhere unasked.
  static void check_image(const config::TaskFile& file, const cli::Options& options) {
    if (file.image.empty() || options.on_host || !options.via.empty()) return;
    throw UsageError(
        fmt::format("{}:{}: image_id: the task is for a container of {} (--on-host runs it on the hosts "
                    "themselves; in a container "
                    "that runs there already: --via 'ssh {{host}} docker exec -i NAME')",
                    file.path, file.image_line, file.image));
  }

  /// Clones the repository of the task, and takes the clone for its workdir.
  static void clone(tasks::Task& task, const cli::Context& context) {
    const std::optional<std::string> cache = hosts::cache_directory(context.probe);
    if (!cache)
      throw UsageError(task.workdir->where + ": there is no place for a clone (set HOME or XDG_CACHE_HOME)");
    const transfer::Clone made =
        transfer::clone_repository(task.repository->url, task.repository->ref, *cache, task.workdir->where,
                                   [&context](const std::string& text) { context.note({text}); });
    task.workdir->source = made.directory;
    context.note({fmt::format("workdir is {}, commit {}", launch::describe(*task.repository), made.commit)});
  }

  /// Looks for the hosts once, for both steps.
  void plan_steps(launch::TaskPlan& plan, const config::TaskFile& file, const cli::Context& context) const {
    const bool has_setup = kind_ == Kind::launch && !file.setup.text.empty();
    const bool has_run = !file.run.text.empty();
    if (!has_run && (kind_ == Kind::exec || (!has_setup && plan.copies.empty())))
      throw UsageError(
          fmt::format("{}: there is nothing to run ({})", file.path,
                      std::find(file.ignored.begin(), file.ignored.end(), "resources") == file.ignored.end()
                          ? "expected run: COMMANDS"
                          : "the hosts exist already; go on with podrun exec and the file that has run:"));
    const std::string id = tasks::make_task_id(plan.task, supervisor::random_id().substr(0, 16));
    const auto command = [&](tasks::Step step) {
      supervisor::Command made = tasks::step_command(plan.task, step, id);
      if (context.options.login) made.shell = supervisor::ShellStart::login;
      return made;
    };
    plan.session = context.options.detach ? context.session_spec() : context.session_for_reader();
    tasks::check_num_nodes(file, plan.session.hosts.size());
    session::RunSpec run = plan_step(plan.session, command(tasks::Step::run), context);
    plan.surroundings = cli::describe_surroundings(run);
    if (has_setup) plan.setup = plan_step(plan.session, command(tasks::Step::setup), context);
    if (context.options.clean_up) run.plan.supervision.preparations.push_back(supervisor::clean_up());
    if (has_run) plan.run = std::move(run);
    if (cli::has_restarts(context.options)) plan.restarts = cli::restart_spec(context.options, context.probe);
    plan.make_step = [&context](const session::SessionSpec& now, supervisor::Command made) {
      return plan_step(now, std::move(made), context);
    };
    plan.copy_view = cli::view(context.options);
    plan.copy_view.outdir.clear();  // it is for the output of setup and run
    plan.spreading = cli::spreading(context.options);
    plan.may_send_private = context.options.force;
    plan.home = context.probe.env("HOME").value_or("");
    plan.repeat = [&context](const std::string& workers) {
      return cli::repeat_command(context.options, workers);
    };
    plan.note = [&context](const std::string& text) { context.note({text}); };
  }

  static jobs::JobStart make_job(const launch::TaskPlan& plan, const std::string& path) {
    if (!plan.run) throw UsageError(fmt::format("--detach: {} has no run: to start as a job", path));
    jobs::check_job_name(plan.task.name);
    return {.name = plan.task.name, .shown = path};
  }

  const Kind kind_;
};

}  // namespace

std::unique_ptr<cli::Command> make_launch_command() { return std::make_unique<TaskCommand>(Kind::launch); }

std::unique_ptr<cli::Command> make_exec_command() { return std::make_unique<TaskCommand>(Kind::exec); }

}  // namespace podrun::commands
