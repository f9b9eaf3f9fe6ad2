// SPDX-License-Identifier: Apache-2.0
// `podrun start`: its options, and the job that they ask for.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/kept_jobs.hpp"
#include "podrun/output/terminal.hpp"

#include "cli/job_keepers.hpp"
#include "cli/job_names.hpp"
#include "cli/kept_run.hpp"
#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/restart_rows.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

class StartCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun start"};
    rows.value(cli::OptionSet::own, "--log-size SIZE",
               "Keep only the last SIZE of each stream's output on each host ({})",
               cli::into(job_.log_size, cli::parse_size), {.default_text = cli::size_option(job_.log_size)});
  }

  /// Only podrun itself has a use for these; hosts that keep a job do not.
  void check(cli::Options& options, const cli::OptionTable& table) override {
    // Only the command line chooses who keeps a job; config.yaml has defaults for runs.
    is_kept_here_ = table.is_on_command_line("restarts") || table.is_on_command_line("stall");
    if (is_kept_here_) return cli::check_restarts(options, table);
    for (const cli::OptionEntry& option : table.entries()) {
      if (!kForPodrun.contains(option.row.set) || !option.is_on_command_line()) continue;
      const auto known = std::ranges::find(kRefused, option.key(), &cli::Refusal::key);
      throw UsageError(known != kRefused.end()
                           ? std::string(known->message)
                           : fmt::format("--{}: it belongs to a job with --restarts or --stall "
                                         "(podrun logs, and wait, take it for others)",
                                         option.key()));
    }
  }

  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    job_.name = options.operands.front();
    jobs::check_job_name(job_.name);
    if (!options.words && !options.script && output::is_terminal(STDIN_FILENO))
      throw UsageError("start: which command? (podrun start NAME -- COMMAND)");
    const auto is_gone = [](const std::string& word) { return word.starts_with("/dev/fd/"); };
    if (is_kept_here_ && (options.script == "-" || hosts::reads_standard_input(options.hosts) ||
                          std::ranges::any_of(options.arguments, is_gone)))
      throw UsageError(
          "start: standard input and <(...) are gone when podrun needs them again (give a file)");
    supervisor::Command command = cli::read_command(options, context.probe);
    const session::SessionSpec spec = context.session_spec();
    session::RunSpec run = cli::users_run(options, context.probe, spec, std::move(command));
    if (!is_kept_here_) leave_to_hosts(run);
    if (options.dry_run)
      return context.describe(
          spec, (is_kept_here_ ? cli::describe_restarts(options) : "") + cli::describe_run(run));
    const auto ended = is_kept_here_ ? cli::EndedName::is_free : cli::EndedName::is_taken;
    if (const auto status = cli::say_if_kept(context, job_.name, ended)) return *status;
    if (is_kept_here_) return keep(context, spec, run.command);
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    const int status = jobs::start_job(session, spec, std::move(run), job_).status;
    if (status == 0) cli::note_started(job_.name, spec.hosts, context.probe);
    return status;
  }

 private:
  static constexpr cli::OptionSets kForPodrun{cli::OptionSet::timeout, cli::OptionSet::batches,
                                              cli::OptionSet::restarts, cli::OptionSet::notify,
                                              cli::OptionSet::output};
  static constexpr std::array<cli::Refusal, 5> kRefused{{
      {"fail-fast",
       "--fail-fast: a job goes on where it has not failed (with --restarts it ends everywhere; --restarts 0 "
       "does "
       "not start it again)"},
      {"skip-unreachable", "--skip-unreachable: start starts a job on all hosts or on none (leave it out)"},
      {"serial", "--serial: start starts a job on all hosts or on none (leave it out)"},
      {"timeout", "--timeout does not limit a job (podrun start NAME -- timeout 2h COMMAND)"},
      {"stdin", "start: a job has no standard input (leave out --stdin; podrun push copies files)"},
  }};

  /// config.yaml may say this of runs; a job starts on all hosts or on none, and its output stays there.
  static void leave_to_hosts(session::RunSpec& run) {
    run.plan.limits.serial = 0;
    run.plan.limits.on_unreachable = run::OnUnreachable::stop;
    const session::View of_run = std::exchange(run.view, {});
    run.view.json = of_run.json;
    run.view.quiet = of_run.quiet;
    run.view.color = of_run.color;
    run.view.controls = of_run.controls;
  }

  /// podrun runs the command, as a job of this machine.
  int keep(const cli::Context& context, const session::SessionSpec& pod, const supervisor::Command& command) {
    const cli::Options& options = context.options;
    {
      session::SessionSpec look = pod;
      look.is_last = false;
      session::Session session(look, context.probe, session::Session::Connections::kept);
      if (const auto status = jobs::say_if_taken(session, look, job_.name)) return *status;
    }
    std::vector<std::string> words = options.arguments_of_run;
    const auto* text = std::get_if<supervisor::ShellText>(&command.what);
    if (options.words || text) words.emplace_back("--");
    if (options.words)
      words.insert(words.end(), options.words->begin(), options.words->end());
    else if (text)
      words.push_back(text->text);
    const session::SessionSpec here = cli::keeper_session(options, context.probe, context.terminal);
    session::RunSpec run = cli::keeper_run(context.probe, here, words);
    job_.grace_if_kept = options.limits.grace;
    job_.shown = jobs::describe_command(command);
    context.note(cli::keeper_notes(context.probe));
    session::Session session(here, context.probe, session::Session::Connections::kept);
    const jobs::StartedJob started = jobs::start_job(session, here, std::move(run), job_);
    if (!started.is_there) return started.status;
    if (const auto status = jobs::await_begin(session, job_.name)) return *status;
    cli::note_started(job_.name, {}, context.probe);
    context.note({fmt::format(
        "{0} runs on {1}, kept by this machine (podrun logs -f {0} shows its output, podrun stop "
        "{0} stops it)",
        job_.name, count_hosts(pod.hosts.size()))});
    return 0;
  }

  jobs::JobStart job_;
  bool is_kept_here_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> make_start_command() { return std::make_unique<StartCommand>(); }

}  // namespace podrun::commands
