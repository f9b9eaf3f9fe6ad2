// SPDX-License-Identifier: Apache-2.0
// `podrun logs`: one run asks where the job is. A second one shows its output: that is the preparation of
// each host, which goes on where it was after a lost connection. The command of that run exits as the job
// did.
#include "commands/logs_command.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/log_follow.hpp"
#include "podrun/output/label.hpp"

#include "cli/option_values.hpp"
#include "commands/answers.hpp"
#include "commands/command_mode.hpp"
#include "commands/job_look.hpp"

namespace podrun::commands {
namespace {

constexpr std::chrono::milliseconds kPatience{2'500};
constexpr int kFailedStatus = 1;

class LogsMode final : public CommandMode {
 public:
  LogsMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe, output::Charset charset,
           jobs::LogFollow& follow)
      : CommandMode(plan, options, probe, charset), follow_(follow) {}

  void begin(output::Output& output) override {
    CommandMode::begin(output);
    output_ = &output;
    output.start();
  }

  PrepareHost preparation() override {
    return [this](std::size_t host, remote::Supervised& supervised) {
      return follow_.prepare(host, supervised, *output_);
    };
  }
  link::Stage preparation_stage() const override { return link::Stage::job_log; }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    say_of(output, &jobs::FollowedHost::has_gap, "some of the output is no longer there");
    say_of(output, &jobs::FollowedHost::is_open,
           "the job has ended, and processes that it left have its output open: not waiting for them");
    if (policy.interrupted_by()) {
      if (json()) json()->end(output, policy, status);
      return;
    }
    CommandMode::print_final_report(output, policy, status);
  }

  std::optional<std::chrono::milliseconds> patience() const override { return kPatience; }

 private:
  void say_of(output::Output& output, bool jobs::FollowedHost::*is_so, std::string_view what) const {
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < follow_.hosts().size(); ++host) {
      if (follow_.hosts()[host].*is_so) hosts.push_back(host);
    }
    if (!hosts.empty())
      output.say(fmt::format("podrun: {} {}", output::fold_hosts(plan().run.hosts, hosts), what));
  }

  jobs::LogFollow& follow_;
  output::Output* output_ = nullptr;
};

/// For the hosts that have the job.
Plan make_logs_plan(const Plan& look_plan, const JobLook& jobs) {
  std::vector<std::size_t> with_job;
  for (const jobs::ListedJobs& each : jobs.listed) {
    if (!each.list.jobs.empty()) with_job.push_back(each.host);
  }
  Plan plan = with_hosts(look_plan, with_job);
  plan.run.command = jobs::exit_as_the_job();
  plan.run.limits.timeout.reset();
  plan.run.limits.prepares_all_at_once = true;
  plan.run.limits.resumes = true;
  plan.work = report::Work::answers;
  return plan;
}

class LogsCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const auto row = [](std::string_view names, std::string_view help, std::string_view type = {}) {
      return cli::OptionRow{
          .topic = "podrun logs", .set = cli::OptionSet::own, .names = names, .help = help, .type = type};
    };
    table.flag(row("--follow", "Follow the output until the job ends, and exit as it did"),
               [this](bool is_on) { request_.follow = is_on; });
    table.value(row("-n,--tail", "Only the last N lines of each stream of each host", "N"),
                [this](const std::string& text) { request_.tail = cli::parse_count(text, 0); });
  }

  int run(const cli::Context& context) override {
    request_.name = context.options.operands.front();
    jobs::check_job_name(request_.name);
    const Plan first = make_job_plan({.action = "list", .job_name = request_.name}, context);
    if (context.options.dry_run) return answer(describe_surroundings(first), *context.terminal);
    RunSequence runs(first, context, RunSequence::Connections::kept);
    const JobLook jobs = look_at_jobs(runs, first, context);
    if (jobs.look.is_interrupted) return jobs.look.status;
    const int missing = report_missing(first, jobs, context);
    Plan plan = make_logs_plan(first, jobs);
    if (plan.run.hosts.empty()) return std::max(jobs.look.status, missing);
    jobs::LogFollow follow(request_, plan.run.hosts);
    const int status =
        runs.run(std::move(plan), context.options, [&](const Plan& started, output::Charset charset) {
          return std::make_unique<LogsMode>(started, context.options, context.probe, charset, follow);
        });
    return std::max({jobs.look.status, missing, status});
  }

 private:
  /// The status: 1 if hosts that have answered do not have the job.
  int report_missing(const Plan& plan, const JobLook& jobs, const cli::Context& context) const {
    std::vector<std::size_t> without;
    for (const jobs::ListedJobs& each : jobs.listed) {
      if (each.list.jobs.empty()) without.push_back(each.host);
    }
    if (without.empty()) return 0;
    const std::string where =
        without.size() == jobs.listed.size() ? "these hosts" : output::fold_hosts(plan.run.hosts, without);
    say({fmt::format("there is no job {} on {}", request_.name, where)}, *context.terminal);
    return kFailedStatus;
  }

  jobs::LogRequest request_;
};

}  // namespace

std::unique_ptr<cli::Command> make_logs_command() { return std::make_unique<LogsCommand>(); }

}  // namespace podrun::commands
