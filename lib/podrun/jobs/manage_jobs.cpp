// SPDX-License-Identifier: Apache-2.0
// `podrun ps`, `stop` and `rm`: one run of jobs.sh, whose answers are shown folded. `rm` asks first what
// runs.
#include "podrun/jobs/manage_jobs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/hosts/remembered.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/output/label.hpp"

namespace podrun::jobs {
namespace {

constexpr int kFailedStatus = 1;

enum class Which { all, active, active_here };

std::set<std::string> names_of(const JobAnswers& jobs, Which which) {
  std::set<std::string> names;
  for (const ListedJobs& each : jobs.listed) {
    for (const Job& job : each.list.jobs) {
      const bool is_wanted =
          which == Which::all ||
          (job.is_active() && (which == Which::active || job.state != JobState::elsewhere));
      if (is_job_name(job.name) && is_wanted) names.insert(job.name);
    }
  }
  return names;
}

JobsWords words(const JobsPlan& plan) {
  const std::string names = join(plan.names, " ");
  if (plan.action == JobAction::stop)
    return {.action = "stop", .job_names = names, .grace = std::to_string(plan.grace.count())};
  return {.action = plan.action == JobAction::list ? "list" : "remove", .job_names = names};
}

class Management {
 public:
  Management(session::Session& session, JobsPlan plan) : session_(session), plan_(std::move(plan)) {}

  ManagedJobs make() {
    if (plan_.action != JobAction::remove) return {.status = ask(), .jobs = std::move(jobs_)};
    const int status = leave_out_active();
    if (plan_.names.empty()) return {.status = status, .jobs = std::move(jobs_)};
    return {.status = std::max(status, ask()), .jobs = std::move(jobs_)};
  }

 private:
  const std::string& called() const { return session_.spec().called; }

  /// Before anything is removed: a job that runs on one host keeps its files on all. The exit status.
  int leave_out_active() {
    const session::RunSpec run = list_run(session_.spec(), join(plan_.names, " "));
    jobs_ = ask_jobs(session_, run);
    const JobAnswers& jobs = jobs_;
    if (jobs.answers.result.interrupted_by) {
      plan_.names.clear();
      return jobs.answers.result.status;
    }
    const std::set<std::string> active = names_of(jobs, Which::active);
    if (plan_.all_ended) {
      const std::set<std::string> all = names_of(jobs, Which::all);
      std::ranges::set_difference(all, active, std::back_inserter(plan_.names));
      if (plan_.names.empty()) session_.say({"no job on these hosts has ended everywhere"});
      return 0;
    }
    const std::set<std::string> can_stop = names_of(jobs, Which::active_here);
    for (const std::string& name : active) {
      const std::string advice =
          can_stop.contains(name) ? fmt::format(" ({} stop {} stops it)", called(), name) : "";
      session_.say({fmt::format("{} runs: not removed{}", name, advice)});
      session_.say(describe_strays(name, run.plan.hosts, jobs.listed));
    }
    std::erase_if(plan_.names, [&](const std::string& name) { return active.contains(name); });
    return active.empty() ? 0 : kFailedStatus;
  }

  int ask() {
    const session::RunSpec run = manage_run(session_.spec(), plan_);
    const std::vector<hosts::Host>& hosts = run.plan.hosts;
    const auto text_of = [&](const std::vector<ListedJobs>& listed) { return describe(hosts, listed); };
    jobs_ = plan_.json ? ask_jobs(session_, run) : ask_jobs(session_, run, text_of);
    if (jobs_.answers.result.interrupted_by) return jobs_.answers.result.status;
    if (plan_.action != JobAction::remove) {
      for (const std::string& name : names_of(jobs_, Which::all))
        session_.say(describe_strays(name, hosts, jobs_.listed));
    }
    if (plan_.action == JobAction::stop) name_unanswered(hosts);
    if (plan_.action == JobAction::list) {
      const std::vector<hosts::Host> silent = silent_hosts(hosts, jobs_.listed);
      if (!silent.empty()) hosts::remember_silent_now(silent, session_.probe());
    }
    return std::max({jobs_.answers.result.status, print(hosts), judge()});
  }

  /// A host that has not answered may have the job, and goes on with it.
  void name_unanswered(const std::vector<hosts::Host>& hosts) {
    const JobAnswers& jobs = jobs_;
    std::vector<std::size_t> missing;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      if (std::ranges::find(jobs.listed, host, &ListedJobs::host) == jobs.listed.end())
        missing.push_back(host);
    }
    if (missing.empty() || jobs.listed.empty()) return;
    const std::string all = join(plan_.names, " ");
    session_.say({fmt::format("{0} may still run on {1} ({3} stop {0}, when {2})", all,
                              output::fold_hosts(hosts, missing),
                              missing.size() == 1 ? "it answers" : "they answer", called())});
  }

  std::string describe(const std::vector<hosts::Host>& hosts, const std::vector<ListedJobs>& listed) const {
    std::string text;
    for (const std::string& line :
         describe_jobs(plan_.kept, hosts, listed, output::separator(session_.charset()),
                       plan_.action == JobAction::list ? Heading::shown : Heading::none, plan_.columns))
      text += line + '\n';
    return text;
  }

  /// The status: 1 if they could not be printed.
  int print(const std::vector<hosts::Host>& hosts) {
    const session::Answers& answers = jobs_.answers;
    if (!plan_.json) return session::show_answers(session_, answers, describe(hosts, jobs_.listed));
    const auto now = std::chrono::system_clock::now();
    return session_.answer(jobs_json(now, plan_.kept, hosts, answers.result.outcomes, jobs_.listed) + '\n');
  }

  /// Whether the hosts have done what was asked for.
  int judge() {
    const JobAnswers& jobs = jobs_;
    const std::set<std::string> found = names_of(jobs, Which::all);
    const std::set<std::string> active = names_of(jobs, Which::active);
    if (plan_.names.empty() && found.empty() && plan_.kept.empty() && !jobs.listed.empty())
      session_.say({"there is no job on these hosts"});
    bool failed = false;
    for (const std::string& name : plan_.names) {
      const bool is_missing = !found.contains(name) && !jobs.listed.empty();
      if (is_missing) session_.say({fmt::format("there is no job {} on these hosts", name)});
      if (plan_.action == JobAction::remove && active.contains(name))
        session_.say({fmt::format("{0} runs: not removed there ({1} stop {0} stops it)", name, called())});
      failed = failed || is_missing || (plan_.action != JobAction::list && active.contains(name));
    }
    return failed ? kFailedStatus : 0;
  }

  session::Session& session_;
  JobsPlan plan_;
  JobAnswers jobs_ = {};
};

}  // namespace

session::RunSpec manage_run(const session::SessionSpec& session, const JobsPlan& plan) {
  return jobs_run(session, words(plan), plan.grace * std::max<std::size_t>(1, plan.names.size()));
}

std::set<std::string> names_of(const JobAnswers& jobs) { return names_of(jobs, Which::all); }

std::string describe_kept(const JobsPlan& plan) {
  if (plan.json) return jobs_json(std::chrono::system_clock::now(), plan.kept, {}, {}, {}) + '\n';
  std::string text;
  for (const std::string& line : describe_jobs(plan.kept, {}, {}, "", Heading::shown, plan.columns))
    text += line + '\n';
  return text;
}

ManagedJobs manage_jobs(session::Session& session, const JobsPlan& plan) {
  return Management(session, plan).make();
}

}  // namespace podrun::jobs
