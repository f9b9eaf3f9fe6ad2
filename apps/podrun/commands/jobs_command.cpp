// SPDX-License-Identifier: Apache-2.0
// `podrun ps`, `stop` and `rm`: one run of jobs.sh, whose answers are shown folded.
#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/output/escape.hpp"

#include "cli/job_names.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

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
    const session::SessionSpec spec = context.session_spec();
    const session::RunSpec run = jobs::jobs_run(spec, words(name, grace), grace);
    if (context.options.dry_run) return context.answer(cli::describe_surroundings(run));
    session::Session session(spec, context.probe, session::Session::Connections::closed);
    const auto text_of = [&](const std::vector<jobs::ListedJobs>& listed) {
      return describe(run.plan.hosts, listed, session.charset());
    };
    const jobs::JobAnswers jobs =
        context.options.json ? jobs::ask_jobs(session, run) : jobs::ask_jobs(session, run, text_of);
    if (jobs.answers.result.interrupted_by) return jobs.answers.result.status;
    if (action_ == Action::list && name.empty()) cli::set_seen_job_names(names(jobs), context.probe);
    return std::max({jobs.answers.result.status, print(run.plan.hosts, jobs, context, session),
                     judge(name, jobs, context)});
  }

 private:
  jobs::JobsWords words(const std::string& name, std::chrono::seconds grace) const {
    if (action_ == Action::stop)
      return {.action = "stop", .job_name = name, .grace = std::to_string(grace.count())};
    return {.action = action_ == Action::list ? "list" : "remove", .job_name = name};
  }

  static std::vector<std::string> names(const jobs::JobAnswers& jobs) {
    std::set<std::string> names;
    for (const jobs::ListedJobs& each : jobs.listed) {
      for (const jobs::Job& job : each.list.jobs) {
        if (is_job_name(job.name)) names.insert(job.name);
      }
    }
    return {names.begin(), names.end()};
  }

  static std::string describe(const std::vector<hosts::Host>& hosts,
                              const std::vector<jobs::ListedJobs>& listed, output::Charset charset) {
    std::string text;
    for (const std::string& line : jobs::describe_jobs(hosts, listed, output::separator(charset)))
      text += line + '\n';
    return text;
  }

  /// The status: 1 if they could not be printed.
  static int print(const std::vector<hosts::Host>& hosts, const jobs::JobAnswers& jobs,
                   const cli::Context& context, session::Session& session) {
    if (context.options.json) {
      const auto now = std::chrono::system_clock::now();
      return context.answer(jobs::jobs_json(now, hosts, jobs.answers.result.outcomes, jobs.listed) + '\n');
    }
    return session::show_answers(session, jobs.answers, describe(hosts, jobs.listed, session.charset()));
  }

  /// Whether the hosts have done what was asked for.
  int judge(const std::string& name, const jobs::JobAnswers& jobs, const cli::Context& context) const {
    bool is_any = false;
    bool is_any_active = false;
    for (const jobs::ListedJobs& each : jobs.listed) {
      for (const jobs::Job& job : each.list.jobs) {
        is_any = true;
        is_any_active = is_any_active || job.is_active();
      }
    }
    if (!is_any && !jobs.listed.empty()) {
      context.say({name.empty() ? "there is no job on these hosts"
                                : fmt::format("there is no job {} on these hosts", name)});
      return name.empty() ? 0 : kFailedStatus;
    }
    if (action_ == Action::list || !is_any_active) return 0;
    if (action_ == Action::remove)
      context.say({fmt::format("{0} runs: not removed there (podrun stop {0} stops it)", name)});
    return kFailedStatus;
  }

  const Action action_;
};

}  // namespace

std::unique_ptr<cli::Command> make_ps_command() { return std::make_unique<JobsCommand>(Action::list); }
std::unique_ptr<cli::Command> make_stop_command() { return std::make_unique<JobsCommand>(Action::stop); }
std::unique_ptr<cli::Command> make_rm_command() { return std::make_unique<JobsCommand>(Action::remove); }

}  // namespace podrun::commands
