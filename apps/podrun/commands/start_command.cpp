// SPDX-License-Identifier: Apache-2.0
// `podrun start`: a run whose hosts reserve the name of the job before they are ready, and whose command
// starts the job and ends. If that fails on a host, a second run takes the job back on the others.
#include "commands/start_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/jobs/claims.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/terminal.hpp"

#include "cli/option_values.hpp"
#include "commands/answers.hpp"
#include "commands/command_mode.hpp"
#include "commands/job_look.hpp"

namespace podrun::commands {
namespace {

/// Time for a host to start the job. Taking it back has the grace period as well.
constexpr std::chrono::seconds kTimeToStart{60};

/// What the final report has said. A signal that comes later changes nothing.
struct StartEnd {
  bool runs_everywhere = false;
  std::vector<run::HostOutcome> outcomes = {};
};

class StartMode final : public CommandMode {
 public:
  StartMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe, output::Charset charset,
            const std::string& name, StartEnd& end)
      : CommandMode(plan, options, probe, charset),
        name_(name),
        claims_(name, plan.run.hosts, plan.run.run_id),
        end_(end) {}

  void begin(output::Output& output) override {
    claims_.begin_attempt();
    CommandMode::begin(output);
  }

  PrepareHost preparation() override {
    return
        [this](std::size_t host, remote::Supervised& supervised) { return claims_.take(host, supervised); };
  }
  link::Stage preparation_stage() const override { return link::Stage::job_name; }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    end_ = {.runs_everywhere = status == 0, .outcomes = policy.outcomes()};
    CommandMode::print_final_report(output, policy, status);
    if (status == 0 && !json()) {
      output.say(
          fmt::format("podrun: {0} runs on {1} (podrun logs -f {0} shows its output, podrun stop {0} "
                      "stops it)",
                      name_, count_hosts(plan().run.hosts.size())));
    }
  }

 private:
  const std::string& name_;
  jobs::Claims claims_;
  StartEnd& end_;
};

/// Stops and removes what this start has started on those hosts where it may have.
void take_back(RunSequence& runs, const Plan& plan, const std::string& name,
               const std::vector<run::HostOutcome>& outcomes, const cli::Context& context) {
  std::vector<std::size_t> started;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    if (run::may_have_run(outcomes[host])) started.push_back(host);
  }
  if (started.empty()) return;
  Plan back = with_hosts(plan, started);
  back.run.command =
      jobs_command({"take-back", name, std::to_string(plan.run.limits.grace.count()), plan.run.run_id});
  run_where_reachable(back);
  back.run.limits.timeout = plan.run.limits.grace + kTimeToStart;
  const std::vector<hosts::Host> hosts = back.run.hosts;
  const Look taken = look(runs, back, context);
  std::vector<std::size_t> left;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (!run::has_succeeded(taken.outcomes[host])) left.push_back(host);
  }
  if (left.empty()) {
    say({fmt::format("{} was not started; what had been started on {} is stopped", name,
                     count_hosts(hosts.size()))},
        *context.terminal);
  } else {
    say({fmt::format("{0} may still run on {1} (podrun stop {0} stops it)", name,
                     output::name_hosts(hosts, left))},
        *context.terminal);
  }
}

class StartCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    table.value({.topic = "podrun start",
                 .set = cli::OptionSet::own,
                 .names = "--log-size",
                 .help = "Keep only the last SIZE of each stream's output on each host ({})",
                 .type = "SIZE",
                 .default_text = "1GB"},
                [this](const std::string& text) { job_.log_size = cli::parse_size(text); });
  }

  void check(cli::Options& options, const cli::OptionTable& table) override {
    for (const std::string_view name : {"skip-unreachable", "serial"}) {
      if (table.is_on_command_line(name))
        throw UsageError(
            fmt::format("--{}: start starts a job on all hosts or on none (leave it out)", name));
    }
    if (table.is_on_command_line("timeout"))
      throw UsageError("--timeout does not limit a job (podrun start NAME -- timeout 2h COMMAND)");
    if (options.feed_input)
      throw UsageError("start: a job has no standard input (leave out --stdin; podrun push copies files)");
  }

  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    job_.name = options.operands.front();
    jobs::check_job_name(job_.name);
    if (!options.words && !options.script && output::is_terminal(STDIN_FILENO))
      throw UsageError("start: which command? (podrun start NAME -- COMMAND)");
    Plan plan = make_plan(options, context.probe);
    if (options.dry_run) return answer(describe_plan(plan), *context.terminal);
    RunSequence runs(plan, context, RunSequence::Connections::kept);
    return start_job(runs, std::move(plan), job_, options, context);
  }

 private:
  jobs::JobStart job_;
};

}  // namespace

int start_job(RunSequence& runs, Plan plan, const jobs::JobStart& job, const cli::Options& options,
              const cli::Context& context) {
  plan.run.command = jobs::start_command(job, plan.command);
  plan.work = report::Work::job;
  run::Limits& limits = plan.run.limits;
  limits.serial = 0;
  limits.on_unreachable = run::OnUnreachable::stop;
  limits.on_failure = run::OnFailure::stop_others;
  limits.prepares_all_at_once = true;
  limits.timeout = kTimeToStart;
  StartEnd end;
  const int status = runs.run(plan, options, [&](const Plan& started, output::Charset charset) {
    return std::make_unique<StartMode>(started, options, context.probe, charset, job.name, end);
  });
  if (end.runs_everywhere) return 0;
  take_back(runs, plan, job.name, end.outcomes, context);
  return status;
}

std::unique_ptr<cli::Command> make_start_command() { return std::make_unique<StartCommand>(); }

}  // namespace podrun::commands
