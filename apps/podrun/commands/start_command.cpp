// SPDX-License-Identifier: Apache-2.0
// `podrun start`: its options, and the job that they ask for.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/kept_jobs.hpp"
#include "podrun/output/terminal.hpp"

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
    cli::check_restarts(options, table);
    if (cli::has_restarts(options)) return;
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
    if (cli::has_restarts(options) && cli::reads_what_is_gone(options) && (options.words || options.script))
      throw UsageError(
          "start: standard input and <(...) are gone when podrun starts the command again (give a file)");
    supervisor::Command command = cli::read_command(options, context.probe);
    const session::SessionSpec spec = context.session_spec();
    session::RunSpec run = cli::users_run(options, context.probe, spec, std::move(command));
    if (options.dry_run)
      return context.describe(spec, cli::describe_restarts(options) + cli::describe_run(run));
    if (is_kept_here(context)) return jobs::kTakenStatus;
    if (cli::has_restarts(options)) return keep(context, spec, run.command);
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    const int status = jobs::start_job(session, spec, std::move(run), job_);
    if (status == 0) cli::add_seen_job_name(job_.name, context.probe);
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

  /// Says so if this machine keeps a job of this name.
  bool is_kept_here(const cli::Context& context) const {
    session::Session here(cli::keeper_session(context.options, context.probe, context.terminal),
                          context.probe, session::Session::Connections::kept);
    const std::vector<jobs::Job> kept = jobs::kept_jobs(here, job_.name);
    if (kept.empty() || (!kept.front().is_active() && cli::has_restarts(context.options))) return false;
    context.say(
        {kept.front().is_active()
             ? fmt::format("{0} runs already, kept by this machine (podrun logs -f {0}; podrun stop {0})",
                           job_.name)
             : fmt::format(
                   "this machine has kept a job {0}, which has ended (podrun rm {0} removes its files)",
                   job_.name)});
    return true;
  }

  /// podrun runs the command, as a job of this machine.
  int keep(const cli::Context& context, const session::SessionSpec& pod, const supervisor::Command& command) {
    const cli::Options& options = context.options;
    {
      session::Session session(pod, context.probe, session::Session::Connections::kept);
      if (jobs::say_if_taken(session, pod, job_.name)) return jobs::kTakenStatus;
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
    job_.is_kept_here = true;
    job_.shown = jobs::describe_command(command);
    context.note(cli::keeper_notes(context.probe));
    session::Session session(here, context.probe, session::Session::Connections::kept);
    const int status = jobs::start_job(session, here, std::move(run), job_);
    if (status == jobs::kTakenStatus) return status;
    const std::optional<int> ended = jobs::await_begin(session, job_.name, cli::view(options));
    if (ended) return *ended;
    cli::add_seen_job_name(job_.name, context.probe);
    context.note({fmt::format(
        "{0} runs on {1}, kept by this machine (podrun logs -f {0} shows its output, podrun stop "
        "{0} stops it)",
        job_.name, count_hosts(pod.hosts.size()))});
    return 0;
  }

  jobs::JobStart job_;
};

}  // namespace

std::unique_ptr<cli::Command> make_start_command() { return std::make_unique<StartCommand>(); }

}  // namespace podrun::commands
