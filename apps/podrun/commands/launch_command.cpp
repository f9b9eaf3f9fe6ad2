// SPDX-License-Identifier: Apache-2.0
// `podrun launch` and `podrun exec`: a task file as a sequence of copies and runs. Each begins when the one
// before it has succeeded on all hosts.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/config/task_file.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/session/command_mode.hpp"
#include "podrun/supervisor/supervised.hpp"
#include "podrun/tasks/task.hpp"
#include "podrun/transfer/clone.hpp"
#include "podrun/transfer/git_address.hpp"
#include "podrun/transfer/push.hpp"

#include "cli/job_names.hpp"
#include "cli/notify.hpp"
#include "cli/restart_rows.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

enum class Kind { launch, exec };

/// One copy, as `podrun push` makes it.
struct PlannedCopy {
  std::string what;    ///< `workdir`, or the target of a file mount
  std::string source;  ///< as the user knows it
  transfer::PushRequest request;
};

/// All that is known before anything starts.
struct Sequence {
  tasks::Task task;
  std::string surroundings;  ///< the hosts and the environment, for --dry-run
  session::SessionSpec session;
  std::vector<PlannedCopy> copies;
  std::optional<session::RunSpec> setup;
  std::optional<session::RunSpec> run;
  std::optional<jobs::JobStart> job = std::nullopt;  ///< which `run` becomes
};

/// A step, and what surrounds it.
struct Place {
  tasks::Step step;
  bool is_announced;  ///< setup and run are both there, so that the reader must be told which one prints
  bool run_follows;
};

/// How the step ended, for the final report; nothing where there is nothing to add to it.
std::optional<std::string> describe_end(const Place& place, const run::RunPolicy& policy) {
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
class StepMode final : public session::CommandMode {
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

/// `https://github.com/a/b.git at v1`
std::string shown(const tasks::Repository& repository) {
  return transfer::shown_url(repository.url) + (repository.ref.empty() ? "" : " at " + repository.ref);
}

std::vector<PlannedCopy> plan_copies(const tasks::Task& task, Kind kind) {
  std::vector<PlannedCopy> copies;
  if (task.repository && task.workdir->source.empty()) {  // a dry run clones nothing
    copies.push_back({"workdir", shown(*task.repository), {}});
    copies.back().request.target = task.workdir->target;
  } else if (task.workdir) {
    copies.push_back(plan_copy(*task.workdir, "workdir"));
    if (task.repository) copies.back().source = shown(*task.repository);
    if (!copies.back().request.tree.sources.front().ends_with('/')) {
      throw UsageError(fmt::format("{}: \"{}\" is no directory (expected one of this machine)",
                                   task.workdir->where, task.workdir->source));
    }
  }
  if (kind == Kind::exec) return copies;
  for (const tasks::Copy& mount : task.mounts) copies.push_back(plan_copy(mount, mount.target));
  return copies;
}

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

/// `what`, and the text indented below it.
std::string describe_step(std::string_view what, std::string_view text) {
  std::string description = fmt::format("{}, by bash in {}:\n", what, tasks::kWorkdir);
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n'))
    description +=
        fmt::format("{}{}\n", line.empty() ? "" : "    ", output::escape_controls(line, output::Tabs::keep));
  return description;
}

std::string describe(const Sequence& sequence) {
  std::string text = sequence.surroundings;
  for (const PlannedCopy& copy : sequence.copies)
    text += fmt::format("copy {} to {}\n", output::escape_controls(copy.source),
                        output::escape_controls(copy.request.target));
  if (sequence.setup) text += describe_step("setup", sequence.task.setup.text);
  const std::string what = sequence.job ? fmt::format("run, as the job {}", sequence.job->name) : "run";
  if (sequence.run) text += describe_step(what, sequence.task.run.text);
  return text;
}

/// The copies whose targets are outside the directory of the task: a task file of others may aim at
/// `~/.ssh/authorized_keys`.
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

/// Makes the copies and runs the steps, until one fails.
class TaskRun {
 public:
  /// Reads the files that are to be copied. Throws UsageError.
  TaskRun(const Sequence& sequence, const cli::Context& context)
      : sequence_(sequence), context_(context), may_send_private_(context.options.force) {
    for (const PlannedCopy& copy : sequence.copies)
      copies_.push_back(copy.request.tree.sources.empty() ? nullptr : plan(copy));
  }

  /// How `run` ended, if it ran with --restarts.
  const std::optional<restarts::RestartResult>& restarted() const { return restarted_; }

  /// The exit status.
  int play() {
    session::Session session(sequence_.session, context_.probe, session::Session::Connections::kept);
    // Before anything is copied over the code of the job that runs.
    if (sequence_.job && jobs::say_if_taken(session, sequence_.session, sequence_.job->name))
      return jobs::kTakenStatus;
    for (const std::unique_ptr<transfer::PushRun>& copy : copies_) {
      if (const std::optional<int> status = copy->confirm(session)) return *status;
    }
    may_send_private_ = true;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const std::string& what = sequence_.copies[i].what;
      if (i > 0) copies_[i] = plan(sequence_.copies[i]);  // the files may have changed during the others
      if (copies_.size() > 1) context_.note({what});
      const int status = copies_[i]->run(session);
      copies_[i].reset();
      if (status == 0) continue;
      say_not_copied(what);
      return status;
    }
    return run_steps(session);
  }

 private:
  std::unique_ptr<transfer::PushRun> plan(const PlannedCopy& copy) const {
    session::View view = cli::view(context_.options);
    view.outdir.clear();  // it is for the output of setup and run
    transfer::PushRequest request = copy.request;
    request.spreading = cli::spreading(context_.options);
    request.may_send_private = may_send_private_;
    request.tree.home = context_.probe.env("HOME").value_or("");
    return std::make_unique<transfer::PushRun>(
        std::move(request), sequence_.session, std::move(view),
        [this](const std::string& workers) { return cli::repeat_command(context_.options, workers); });
  }

  int run_steps(session::Session& session) {
    const bool has_run = sequence_.run.has_value();
    if (!sequence_.setup) {
      const Place alone{.step = tasks::Step::run, .is_announced = false, .run_follows = false};
      return has_run ? start_run(session, *sequence_.run, alone) : 0;
    }
    const Place setup{.step = tasks::Step::setup, .is_announced = has_run, .run_follows = has_run};
    const int status = start(session, *sequence_.setup, setup);
    if (status != 0 || !has_run) return status;
    session::RunSpec spec = *sequence_.run;
    spec.view.earlier = output::EarlierOutput::append;  // --outdir has the output of setup already
    const Place run{.step = tasks::Step::run, .is_announced = true, .run_follows = false};
    return start_run(session, spec, run);
  }

  int start_run(session::Session& session, const session::RunSpec& run, const Place& place) {
    if (cli::has_restarts(context_.options)) {
      if (place.is_announced) session.say({std::string(tasks::name_of(place.step))});
      return run_with_restarts(session, run);
    }
    if (!sequence_.job) return start(session, run, place);
    const int status = jobs::start_job(session, sequence_.session, run, *sequence_.job);
    if (status == 0) cli::add_seen_job_name(sequence_.job->name, session.probe());
    return status;
  }

  int run_with_restarts(session::Session& session, const session::RunSpec& run) {
    restarts::RestartSpec spec = cli::restart_spec(context_.options, context_.probe);
    spec.make_run = [&](const session::SessionSpec& now, const std::vector<supervisor::Variable>& first) {
      session::RunSpec made = plan_step(now, restarts::with_variables(run.command, first), context_);
      made.plan.supervision.preparations = run.plan.supervision.preparations;
      made.view.earlier = run.view.earlier;
      return made;
    };
    restarted_ = restarts::run_with_restarts(session, spec);
    return restarted_->status;
  }

  static int start(session::Session& session, const session::RunSpec& run, const Place& place) {
    StepMode mode(run, session, place);
    return session.run(run, mode).status;
  }

  /// Says which copy failed, and which steps were not started because of that.
  void say_not_copied(std::string_view what) const {
    std::vector<std::string> missed;
    if (sequence_.setup) missed.emplace_back("setup");
    if (sequence_.run) missed.emplace_back("run");
    const std::string rest = missed.empty() ? ""
                                            : fmt::format("; {} {} not started", join(missed, " and "),
                                                          missed.size() == 1 ? "was" : "were");
    context_.say({fmt::format("{} was not copied{}", what, rest)});
  }

  const Sequence& sequence_;
  const cli::Context& context_;
  bool may_send_private_;  ///< the user agreed, see PushRun::confirm()
  std::vector<std::unique_ptr<transfer::PushRun>> copies_;
  std::optional<restarts::RestartResult> restarted_;
};

class TaskCommand final : public cli::Command {
 public:
  explicit TaskCommand(Kind kind) : kind_(kind) {}

  void check(cli::Options& options, const cli::OptionTable& table) override {
    cli::check_restarts(options, table);
  }

  int run(const cli::Context& context) override {
    const Sequence sequence = make_sequence(context);
    TaskRun run(sequence, context);
    if (context.options.dry_run)
      return context.answer(cli::describe_restarts(context.options) + describe(sequence));
    context.note(notes_on_targets(sequence.copies));
    const int status = run.play();
    if (run.restarted()) return cli::tell_end(context, *run.restarted(), sequence.task.name);
    const bool is_interrupted = status == 128 + SIGINT || status == 128 + SIGTERM || status == 128 + SIGHUP;
    cli::notify(context, {.status = status,
                          .is_interrupted = is_interrupted,
                          .hosts = sequence.session.hosts,
                          .job = sequence.task.name});
    return status;
  }

 private:
  /// Finds every error of usage. Nothing has started.
  Sequence make_sequence(const cli::Context& context) const {
    const hosts::Probe& probe = context.probe;
    const std::string& path = context.options.operands.front();
    const std::optional<std::string> text = probe.read_file(path);
    if (!text) {
      throw UsageError(fmt::format("{}: there is no file \"{}\" (expected a task file{})",
                                   kind_ == Kind::launch ? "launch" : "exec", path,
                                   kind_ == Kind::launch ? "" : "; a command: podrun -- COMMAND"));
    }
    const config::TaskFile file = config::parse_task_file(*text, path);
    Sequence sequence;
    sequence.task =
        tasks::make_task(file, {.variables = cli::make_environment(context.options, probe),
                                .env = [&probe](const std::string& name) { return probe.env(name); },
                                .home = probe.env("HOME").value_or("")});
    check_image(file, context.options);
    if (sequence.task.repository && !context.options.dry_run) clone(sequence.task, context);
    sequence.copies = plan_copies(sequence.task, kind_);
    plan_steps(sequence, file, context);
    if (context.options.detach) sequence.job = make_job(sequence, path);
    context.note(std::exchange(sequence.session.notes, {}));
    if (!file.ignored.empty()) {
      context.note(
          {fmt::format("{}: ignored, since only a cloud can do it: {}", path, join(file.ignored, ", "))});
    }
    if (!file.hooks.empty()) {
      context.note({fmt::format("{}: not run, so they save no checkpoint (save it in run): {}", path,
                                join(file.hooks, ", "))});
    }
    context.note(tasks::notes_on_variables(file, sequence.task));
    return sequence;
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
    context.note({fmt::format("workdir is {}, commit {}", shown(*task.repository), made.commit)});
  }

  /// Looks for the hosts once, for both steps.
  void plan_steps(Sequence& sequence, const config::TaskFile& file, const cli::Context& context) const {
    const bool has_setup = kind_ == Kind::launch && !file.setup.text.empty();
    const bool has_run = !file.run.text.empty();
    if (!has_run && (kind_ == Kind::exec || (!has_setup && sequence.copies.empty())))
      throw UsageError(
          fmt::format("{}: there is nothing to run ({})", file.path,
                      std::find(file.ignored.begin(), file.ignored.end(), "resources") == file.ignored.end()
                          ? "expected run: COMMANDS"
                          : "the hosts exist already; go on with podrun exec and the file that has run:"));
    const std::string id = tasks::make_task_id(sequence.task, supervisor::random_id().substr(0, 16));
    const auto command = [&](tasks::Step step) {
      supervisor::Command made = tasks::step_command(sequence.task, step, id);
      if (context.options.login) made.shell = supervisor::ShellStart::login;
      return made;
    };
    sequence.session = context.options.detach ? context.session_spec() : context.session_for_reader();
    tasks::check_num_nodes(file, sequence.session.hosts.size());
    session::RunSpec run = plan_step(sequence.session, command(tasks::Step::run), context);
    sequence.surroundings = cli::describe_surroundings(run);
    if (has_setup) sequence.setup = plan_step(sequence.session, command(tasks::Step::setup), context);
    if (context.options.clean_up) run.plan.supervision.preparations.push_back(supervisor::clean_up());
    if (has_run) sequence.run = std::move(run);
  }

  static jobs::JobStart make_job(const Sequence& sequence, const std::string& path) {
    if (!sequence.run) throw UsageError(fmt::format("--detach: {} has no run: to start as a job", path));
    jobs::check_job_name(sequence.task.name);
    return {.name = sequence.task.name, .shown = path};
  }

  const Kind kind_;
};

}  // namespace

std::unique_ptr<cli::Command> make_launch_command() { return std::make_unique<TaskCommand>(Kind::launch); }

std::unique_ptr<cli::Command> make_exec_command() { return std::make_unique<TaskCommand>(Kind::exec); }

}  // namespace podrun::commands
