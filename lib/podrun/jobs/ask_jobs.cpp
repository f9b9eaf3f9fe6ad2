// SPDX-License-Identifier: Apache-2.0
// A run of jobs.sh whose answers are lists of jobs.
#include "podrun/jobs/ask_jobs.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"

namespace podrun::jobs {
namespace {

constexpr int kUnansweredStatus = 1;
constexpr std::chrono::seconds kTimeToAnswer{60};

bool is_only_here(const std::vector<hosts::Host>& hosts) {
  return std::ranges::all_of(hosts,
                             [](const hosts::Host& host) { return host.kind == hosts::HostKind::local; });
}

/// `[3] left behind: pid 12 (sleep) of ada`
void pass_on(const std::string& complaints, const hosts::Host& host, session::Session& session) {
  for (std::string_view line : split(complaints, '\n')) {
    if (line.starts_with("podrun: ")) line.remove_prefix(std::string_view("podrun: ").size());
    if (!line.empty())
      session.say({fmt::format("[{}] {}", host.worker, output::escape_controls(std::string(line)))});
  }
}

/// The lists of the hosts that have answered to the end.
std::vector<ListedJobs> read_lists(const session::Answers& answers, const run::RunPlan& plan) {
  std::vector<ListedJobs> listed;
  for (std::size_t host = 0; host < answers.texts.size(); ++host) {
    JobList list = parse_job_list(answers.texts[host], plan.run_id);
    if (!is_only_here(plan.hosts)) std::erase_if(list.jobs, &Job::is_kept_here);  // see kept_jobs.hpp
    if (list.is_complete) listed.push_back({host, std::move(list)});
  }
  return listed;
}

}  // namespace

void say_not_there(session::Session& session, const std::vector<hosts::Host>& hosts, const JobAnswers& jobs,
                   const std::vector<std::size_t>& without, const std::string& what) {
  const std::string where =
      without.size() == jobs.listed.size() ? "these hosts" : output::fold_hosts(hosts, without);
  session.say({fmt::format("there is no job {} on {}", what, where)});
}

supervisor::RemoteCommand jobs_command(JobsWords words) {
  return supervisor::build_command(supervisor::script_command(kJobsScript, std::move(words).list()));
}

session::RunSpec jobs_run(const session::SessionSpec& session, JobsWords words, std::chrono::seconds grace) {
  return session::quick_answers(session, jobs_command(std::move(words)), grace + kTimeToAnswer);
}

session::RunSpec list_run(const session::SessionSpec& session, const std::string& names) {
  return jobs_run(session, {.action = "list", .job_names = names});
}

JobAnswers ask_jobs(session::Session& session, const session::RunSpec& run,
                    const std::function<std::string(const std::vector<ListedJobs>&)>& show) {
  JobAnswers jobs;
  const auto show_lists = [&](const session::Answers& so_far) { return show(read_lists(so_far, run.plan)); };
  jobs.answers = session::ask_hosts(session, run, show ? show_lists : session::ShowAnswers());
  jobs.listed = read_lists(jobs.answers, run.plan);
  std::vector<bool> has_list(run.plan.hosts.size());
  for (const ListedJobs& each : jobs.listed) has_list[each.host] = true;
  session::RunResult& result = jobs.answers.result;
  std::vector<std::size_t> silent;
  for (std::size_t host = 0; host < has_list.size(); ++host) {
    if (!has_list[host] && run::has_succeeded(result.outcomes[host])) silent.push_back(host);
    pass_on(jobs.answers.errors[host], run.plan.hosts[host], session);
  }
  if (!silent.empty()) {
    session.say({output::fold_hosts(run.plan.hosts, silent) + " sent no whole list of jobs"});
    result.status = std::max(result.status, kUnansweredStatus);
  }
  return jobs;
}

}  // namespace podrun::jobs
