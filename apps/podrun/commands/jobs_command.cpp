// SPDX-License-Identifier: Apache-2.0
// `podrun ps`, `stop` and `rm`: one run of jobs.sh, whose answers are shown folded.
#include "commands/jobs_command.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/output/escape.hpp"

#include "commands/answers.hpp"
#include "commands/job_look.hpp"

namespace podrun::commands {
namespace {

enum class Action { list, stop, remove };

constexpr int kFailedStatus = 1;

class JobsCommand final : public cli::Command {
 public:
  explicit JobsCommand(Action action) : action_(action) {}

  int run(const cli::Context& context) override {
    const std::string name = context.options.operands.empty() ? "" : context.options.operands.front();
    if (!name.empty() || action_ != Action::list) jobs::check_job_name(name);
    const std::chrono::seconds grace = context.options.limits.grace;
    const Plan plan = make_job_plan(words(name, grace), context, grace);
    if (context.options.dry_run) return answer(describe_surroundings(plan), *context.terminal);
    RunSequence runs(plan, context, RunSequence::Connections::closed);
    const JobLook jobs = look_at_jobs(runs, plan, context);
    if (jobs.look.is_interrupted) return jobs.look.status;
    return std::max(
        {jobs.look.status, print(plan, jobs, context, runs.charset()), judge(name, jobs, context)});
  }

 private:
  jobs::JobsWords words(const std::string& name, std::chrono::seconds grace) const {
    if (action_ == Action::stop)
      return {.action = "stop", .job_name = name, .grace = std::to_string(grace.count())};
    return {.action = action_ == Action::list ? "list" : "remove", .job_name = name};
  }

  /// The status: 1 if they could not be printed.
  static int print(const Plan& plan, const JobLook& jobs, const cli::Context& context,
                   output::Charset charset) {
    if (context.options.json) {
      const auto now = std::chrono::system_clock::now();
      return answer(jobs::jobs_json(now, plan.run.hosts, jobs.look.outcomes, jobs.listed) + '\n',
                    *context.terminal);
    }
    std::string text;
    for (const std::string& line :
         jobs::describe_jobs(plan.run.hosts, jobs.listed, output::separator(charset)))
      text += line + '\n';
    return text.empty() ? 0 : answer(text, *context.terminal);
  }

  /// Whether the hosts have done what was asked for.
  int judge(const std::string& name, const JobLook& jobs, const cli::Context& context) const {
    bool is_any = false;
    bool is_any_active = false;
    for (const jobs::ListedJobs& each : jobs.listed) {
      for (const jobs::Job& job : each.list.jobs) {
        is_any = true;
        is_any_active = is_any_active || job.is_active();
      }
    }
    if (!is_any && !jobs.listed.empty()) {
      say({name.empty() ? "there is no job on these hosts"
                        : fmt::format("there is no job {} on these hosts", name)},
          *context.terminal);
      return name.empty() ? 0 : kFailedStatus;
    }
    if (action_ == Action::list || !is_any_active) return 0;
    if (action_ == Action::remove)
      say({fmt::format("{0} runs: not removed there (podrun stop {0} stops it)", name)}, *context.terminal);
    return kFailedStatus;
  }

  const Action action_;
};

}  // namespace

std::unique_ptr<cli::Command> make_ps_command() { return std::make_unique<JobsCommand>(Action::list); }
std::unique_ptr<cli::Command> make_stop_command() { return std::make_unique<JobsCommand>(Action::stop); }
std::unique_ptr<cli::Command> make_rm_command() { return std::make_unique<JobsCommand>(Action::remove); }

}  // namespace podrun::commands
