// SPDX-License-Identifier: Apache-2.0
// `podrun launch` and `podrun exec`: a task file as a sequence of copies and runs. Each begins when the one
// before it has succeeded on all hosts.
#include "commands/launch_command.hpp"

#include <algorithm>
#include <chrono>
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
#include "podrun/output/escape.hpp"
#include "podrun/remote/supervised.hpp"
#include "podrun/tasks/step.hpp"
#include "podrun/tasks/task.hpp"

#include "commands/answers.hpp"
#include "commands/command_mode.hpp"
#include "commands/plan.hpp"
#include "commands/push_command.hpp"
#include "commands/run_sequence.hpp"
#include "commands/start_command.hpp"

namespace podrun::commands {
namespace {

enum class Kind { launch, exec };

/// One copy, as `podrun push` makes it.
struct PlannedCopy {
  std::string what;  ///< `workdir`, or the target of a file mount
  files::PushRequest request;
};

/// All that is known before anything starts.
struct Sequence {
  tasks::Task task;
  std::string surroundings;  ///< the hosts and the environment, for --dry-run
  Plan found;                ///< the hosts, for the copies
  std::vector<PlannedCopy> copies;
  std::optional<Plan> setup;
  std::optional<Plan> run;
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
class StepMode final : public CommandMode {
 public:
  StepMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe, output::Charset charset,
           const Place& place)
      : CommandMode(plan, options, probe, charset), place_(place) {}

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
  planned.request.tree.sources.push_back(std::move(source));
  planned.request.target = copy.target;
  return planned;
}

std::vector<PlannedCopy> plan_copies(const tasks::Task& task, Kind kind) {
  std::vector<PlannedCopy> copies;
  if (task.workdir) {
    copies.push_back(plan_copy(*task.workdir, "workdir"));
    if (!copies.back().request.tree.sources.front().ends_with('/')) {
      throw UsageError(fmt::format("{}: \"{}\" is no directory (expected one of this machine)",
                                   task.workdir->where, task.workdir->source));
    }
  }
  if (kind == Kind::exec) return copies;
  for (const tasks::Copy& mount : task.mounts) copies.push_back(plan_copy(mount, mount.target));
  return copies;
}

/// A step on all hosts or on none; the first failure ends it everywhere, whatever a configuration says of
/// commands.
void make_all_or_nothing(Plan& plan) {
  run::Limits& limits = plan.run.limits;
  limits.serial = 0;
  limits.on_unreachable = run::OnUnreachable::stop;
  limits.on_failure = run::OnFailure::stop_others;
  plan.work = report::Work::task;
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
    text += fmt::format("copy {} to {}\n", output::escape_controls(copy.request.tree.sources.front()),
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
    notes.push_back(fmt::format("{} is copied to {} on the hosts, outside {}",
                                copy.request.tree.sources.front(), copy.request.target, tasks::kWorkdir));
  }
  return notes;
}

/// Makes the copies and runs the steps, until one fails.
class TaskRun {
 public:
  /// Reads the files that are to be copied. Throws UsageError.
  TaskRun(const Sequence& sequence, const cli::Context& context)
      : sequence_(sequence), context_(context), options_of_copies_(context.options) {
    options_of_copies_.outdir.clear();  // --outdir is for the output of setup and run
    for (const PlannedCopy& copy : sequence.copies) copies_.push_back(plan(copy));
  }

  /// The exit status.
  int play() {
    RunSequence runs(sequence_.found, context_, RunSequence::Connections::kept);
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const std::string& what = sequence_.copies[i].what;
      if (i > 0) copies_[i] = plan(sequence_.copies[i]);  // the files may have changed during the others
      if (copies_.size() > 1) say({what}, *context_.terminal);
      const int status = copies_[i]->run(runs, context_.probe);
      copies_[i].reset();
      if (status == 0) continue;
      say_not_copied(what);
      return status;
    }
    return run_steps(runs);
  }

 private:
  std::unique_ptr<PlannedPush> plan(const PlannedCopy& copy) const {
    return std::make_unique<PlannedPush>(copy.request, sequence_.found, options_of_copies_);
  }

  int run_steps(RunSequence& runs) const {
    const bool has_run = sequence_.run.has_value();
    if (!sequence_.setup) {
      const Place alone{.step = tasks::Step::run, .is_announced = false, .run_follows = false};
      return has_run ? start_run(runs, context_.options, alone) : 0;
    }
    const Place setup{.step = tasks::Step::setup, .is_announced = has_run, .run_follows = has_run};
    const int status = start(runs, *sequence_.setup, context_.options, setup);
    if (status != 0 || !has_run) return status;
    cli::Options options = context_.options;
    options.append = true;  // the files of --outdir have the output of setup already
    options.force = false;
    const Place run{.step = tasks::Step::run, .is_announced = true, .run_follows = false};
    return start_run(runs, options, run);
  }

  int start_run(RunSequence& runs, const cli::Options& options, const Place& place) const {
    if (sequence_.job) return start_job(runs, *sequence_.run, *sequence_.job, options, context_);
    return start(runs, *sequence_.run, options, place);
  }

  int start(RunSequence& runs, const Plan& plan, const cli::Options& options, const Place& place) const {
    return runs.run(plan, options, [&](const Plan& planned, output::Charset charset) {
      return std::make_unique<StepMode>(planned, options, context_.probe, charset, place);
    });
  }

  /// Says which copy failed, and which steps were not started because of that.
  void say_not_copied(std::string_view what) const {
    std::vector<std::string> missed;
    if (sequence_.setup) missed.emplace_back("setup");
    if (sequence_.run) missed.emplace_back("run");
    const std::string rest = missed.empty() ? ""
                                            : fmt::format("; {} {} not started", join(missed, " and "),
                                                          missed.size() == 1 ? "was" : "were");
    say({fmt::format("{} was not copied{}", what, rest)}, *context_.terminal);
  }

  const Sequence& sequence_;
  const cli::Context& context_;
  cli::Options options_of_copies_;
  std::vector<std::unique_ptr<PlannedPush>> copies_;
};

class TaskCommand final : public cli::Command {
 public:
  explicit TaskCommand(Kind kind) : kind_(kind) {}

  void check(cli::Options& options, const cli::OptionTable& table) override {
    if (table.is_on_command_line("cwd") || table.is_on_command_line("chdir")) {
      throw UsageError(
          "--cwd and --chdir: a task runs in ~/sky_workdir (leave them out; workdir: of the task file says "
          "what is copied there)");
    }
    options.same_directory = false;  // a configuration says it of commands
    options.directory.reset();
  }

  int run(const cli::Context& context) override {
    const Sequence sequence = make_sequence(context);
    if (context.options.dry_run) return answer(describe(sequence), *context.terminal);
    TaskRun run(sequence, context);
    say(notes_on_targets(sequence.copies), *context.terminal);
    return run.play();
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
        tasks::make_task(file, {.variables = make_environment(context.options, probe),
                                .env = [&probe](const std::string& name) { return probe.env(name); },
                                .home = probe.env("HOME").value_or("")});
    sequence.copies = plan_copies(sequence.task, kind_);
    plan_steps(sequence, file, context);
    if (context.options.detach) sequence.job = make_job(sequence, path);
    say(sequence.found.notes, *context.terminal);
    sequence.found.notes.clear();
    if (!file.ignored.empty()) {
      say({fmt::format("{}: ignored, since only a cloud can do it: {}", path, join(file.ignored, ", "))},
          *context.terminal);
    }
    return sequence;
  }

  /// Looks for the hosts once, for both steps.
  void plan_steps(Sequence& sequence, const config::TaskFile& file, const cli::Context& context) const {
    const bool has_setup = kind_ == Kind::launch && !file.setup.text.empty();
    const bool has_run = !file.run.text.empty();
    if (!has_run && (kind_ == Kind::exec || (!has_setup && sequence.copies.empty())))
      throw UsageError(fmt::format("{}: there is nothing to run (expected run: COMMANDS)", file.path));
    const std::string id = tasks::make_task_id(sequence.task, remote::random_id().substr(0, 16));
    const auto command = [&](tasks::Step step) {
      remote::Command made = tasks::step_command(sequence.task, step, id);
      if (context.options.login) made.shell = remote::ShellStart::login;
      return made;
    };
    Plan plan = make_plan(context.options, context.probe, command(tasks::Step::run));
    tasks::check_num_nodes(file, plan.run.hosts.size());
    make_all_or_nothing(plan);
    sequence.surroundings = describe_surroundings(plan);
    sequence.found = plan;
    plan.notes.clear();  // they are said once
    if (has_setup) {
      sequence.setup = with_command(plan, command(tasks::Step::setup));
      sequence.setup->run.supervision.preparations.clear();  // -c of a configuration is for run
    }
    if (has_run) sequence.run = std::move(plan);
  }

  static jobs::JobStart make_job(const Sequence& sequence, const std::string& path) {
    if (!sequence.run) throw UsageError(fmt::format("--detach: {} has no run: to start as a job", path));
    jobs::check_job_name(sequence.task.name);
    return {.name = sequence.task.name};
  }

  const Kind kind_;
};

}  // namespace

std::unique_ptr<cli::Command> make_launch_command() { return std::make_unique<TaskCommand>(Kind::launch); }

std::unique_ptr<cli::Command> make_exec_command() { return std::make_unique<TaskCommand>(Kind::exec); }

}  // namespace podrun::commands
