// SPDX-License-Identifier: Apache-2.0
// `podrun ps`, `stop` and `rm`: one run of jobs.sh, whose answers are shown folded.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/terminal.hpp"

#include "cli/job_names.hpp"
#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

enum class Action { list, stop, remove };

constexpr int kFailedStatus = 1;

class JobsCommand final : public cli::Command {
 public:
  explicit JobsCommand(Action action) : action_(action) {}

  void add_options(cli::OptionTable& table) override {
    if (action_ != Action::remove) return;
    const cli::Rows rows{table, "podrun rm"};
    rows.flag(cli::OptionSet::own, "--all", "Remove all jobs that have ended", cli::into(is_all_));
  }

  int run(const cli::Context& context) override {
    names_ = context.options.operands;
    for (const std::string& name : names_) jobs::check_job_name(name);
    if (action_ == Action::remove && is_all_ == !names_.empty())
      throw UsageError(is_all_ ? "rm: both names and --all are given (choose one)"
                               : "rm: which job? (podrun rm NAME, or --all; podrun ps lists them)");
    const std::chrono::seconds grace = context.options.limits.grace;
    const session::SessionSpec spec = context.session_spec();
    const session::RunSpec run = jobs_run(spec, grace);
    if (context.options.dry_run) return context.answer(cli::describe_surroundings(run));
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    if (action_ == Action::remove) {
      const int status = leave_out_active(session, spec, context);
      if (names_.empty()) return status;
      return std::max(status, ask(session, jobs_run(spec, grace), context));
    }
    return ask(session, run, context);
  }

 private:
  session::RunSpec jobs_run(const session::SessionSpec& spec, std::chrono::seconds grace) const {
    return jobs::jobs_run(spec, words(grace), grace * std::max<std::size_t>(1, names_.size()));
  }

  /// Before anything is removed: a job that runs on one host keeps its files on all. The exit status.
  int leave_out_active(session::Session& session, const session::SessionSpec& spec,
                       const cli::Context& context) {
    const session::RunSpec run = jobs::jobs_run(spec, {.action = "list", .job_names = join(names_, " ")});
    const jobs::JobAnswers jobs = jobs::ask_jobs(session, run);
    if (jobs.answers.result.interrupted_by) {
      names_.clear();
      return jobs.answers.result.status;
    }
    const std::set<std::string> active = names_of(jobs, Which::active);
    if (is_all_) {
      const std::set<std::string> all = names_of(jobs, Which::all);
      std::ranges::set_difference(all, active, std::back_inserter(names_));
      if (names_.empty()) context.say({"no job on these hosts has ended everywhere"});
      return 0;
    }
    const std::set<std::string> can_stop = names_of(jobs, Which::active_here);
    for (const std::string& name : active) {
      const std::string advice =
          can_stop.contains(name) ? fmt::format(" (podrun stop {} stops it)", name) : "";
      context.say({fmt::format("{} runs: not removed{}", name, advice)});
      context.say(jobs::describe_strays(name, run.plan.hosts, jobs.listed));
    }
    std::erase_if(names_, [&](const std::string& name) { return active.contains(name); });
    return active.empty() ? 0 : kFailedStatus;
  }

  int ask(session::Session& session, const session::RunSpec& run, const cli::Context& context) const {
    const auto text_of = [&](const std::vector<jobs::ListedJobs>& listed) {
      return describe(run.plan.hosts, listed, session.charset());
    };
    const jobs::JobAnswers jobs =
        context.options.json ? jobs::ask_jobs(session, run) : jobs::ask_jobs(session, run, text_of);
    if (jobs.answers.result.interrupted_by) return jobs.answers.result.status;
    if (action_ == Action::list && names_.empty()) {
      const std::set<std::string> all = names_of(jobs, Which::all);
      cli::set_seen_job_names({all.begin(), all.end()}, context.probe);
    }
    if (action_ != Action::remove) {
      for (const std::string& name : names_of(jobs, Which::all))
        context.say(jobs::describe_strays(name, run.plan.hosts, jobs.listed));
    }
    if (action_ == Action::stop) name_unanswered(run.plan.hosts, jobs, context);
    return std::max(
        {jobs.answers.result.status, print(run.plan.hosts, jobs, context, session), judge(jobs, context)});
  }

  jobs::JobsWords words(std::chrono::seconds grace) const {
    const std::string names = join(names_, " ");
    if (action_ == Action::stop)
      return {.action = "stop", .job_names = names, .grace = std::to_string(grace.count())};
    return {.action = action_ == Action::list ? "list" : "remove", .job_names = names};
  }

  enum class Which { all, active, active_here };

  static std::set<std::string> names_of(const jobs::JobAnswers& jobs, Which which) {
    std::set<std::string> names;
    for (const jobs::ListedJobs& each : jobs.listed) {
      for (const jobs::Job& job : each.list.jobs) {
        const bool is_wanted =
            which == Which::all ||
            (job.is_active() && (which == Which::active || job.state != jobs::JobState::elsewhere));
        if (is_job_name(job.name) && is_wanted) names.insert(job.name);
      }
    }
    return names;
  }

  /// A host that has not answered may have the job, and goes on with it.
  void name_unanswered(const std::vector<hosts::Host>& hosts, const jobs::JobAnswers& jobs,
                       const cli::Context& context) const {
    std::vector<std::size_t> missing;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      if (std::ranges::find(jobs.listed, host, &jobs::ListedJobs::host) == jobs.listed.end())
        missing.push_back(host);
    }
    if (missing.empty() || jobs.listed.empty()) return;
    const std::string all = join(names_, " ");
    context.say({fmt::format("{0} may still run on {1} (podrun stop {0}, when {2})", all,
                             output::fold_hosts(hosts, missing),
                             missing.size() == 1 ? "it answers" : "they answer")});
  }

  std::string describe(const std::vector<hosts::Host>& hosts, const std::vector<jobs::ListedJobs>& listed,
                       output::Charset charset) const {
    const std::size_t columns = output::is_terminal(STDOUT_FILENO) ? output::columns_of(STDOUT_FILENO) : 0;
    std::string text;
    for (const std::string& line :
         jobs::describe_jobs(hosts, listed, output::separator(charset),
                             action_ == Action::list ? jobs::Heading::shown : jobs::Heading::none, columns))
      text += line + '\n';
    return text;
  }

  /// The status: 1 if they could not be printed.
  int print(const std::vector<hosts::Host>& hosts, const jobs::JobAnswers& jobs, const cli::Context& context,
            session::Session& session) const {
    if (context.options.json) {
      const auto now = std::chrono::system_clock::now();
      return context.answer(jobs::jobs_json(now, hosts, jobs.answers.result.outcomes, jobs.listed) + '\n');
    }
    return session::show_answers(session, jobs.answers, describe(hosts, jobs.listed, session.charset()));
  }

  /// Whether the hosts have done what was asked for.
  int judge(const jobs::JobAnswers& jobs, const cli::Context& context) const {
    const std::set<std::string> found = names_of(jobs, Which::all);
    const std::set<std::string> active = names_of(jobs, Which::active);
    if (names_.empty() && found.empty() && !jobs.listed.empty())
      context.say({"there is no job on these hosts"});
    bool failed = false;
    for (const std::string& name : names_) {
      const bool is_missing = !found.contains(name) && !jobs.listed.empty();
      if (is_missing) context.say({fmt::format("there is no job {} on these hosts", name)});
      if (action_ == Action::remove && active.contains(name))
        context.say({fmt::format("{0} runs: not removed there (podrun stop {0} stops it)", name)});
      failed = failed || is_missing || (action_ != Action::list && active.contains(name));
    }
    return failed ? kFailedStatus : 0;
  }

  const Action action_;
  std::vector<std::string> names_;
  bool is_all_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> make_ps_command() { return std::make_unique<JobsCommand>(Action::list); }
std::unique_ptr<cli::Command> make_stop_command() { return std::make_unique<JobsCommand>(Action::stop); }
std::unique_ptr<cli::Command> make_rm_command() { return std::make_unique<JobsCommand>(Action::remove); }

}  // namespace podrun::commands
