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

/// `[3] left behind: pid 12 (sleep) of ada`
void pass_on(const std::string& complaints, const hosts::Host& host, session::Session& session) {
  for (std::string_view line : split(complaints, '\n')) {
    if (line.starts_with("podrun: ")) line.remove_prefix(std::string_view("podrun: ").size());
    if (!line.empty())
      session.say({fmt::format("[{}] {}", host.worker, output::escape_controls(std::string(line)))});
  }
}

}  // namespace

supervisor::RemoteCommand jobs_command(JobsWords words) {
  return supervisor::build_command(supervisor::script_command(kJobsScript, std::move(words).list()));
}

session::RunSpec jobs_run(const session::SessionSpec& session, JobsWords words, std::chrono::seconds grace) {
  session::RunSpec run =
      session::whoever_answers(session, jobs_command(std::move(words)), grace + kTimeToAnswer);
  session::shorten_grace(run);
  return run;
}

JobAnswers ask_jobs(session::Session& session, const session::RunSpec& run) {
  JobAnswers jobs;
  session::Answers answers = session::ask_hosts(session, run);
  jobs.result = std::move(answers.result);
  std::vector<std::size_t> silent;
  for (std::size_t host = 0; host < answers.texts.size(); ++host) {
    JobList list = parse_job_list(answers.texts[host], run.plan.run_id);
    if (list.is_complete) {
      jobs.listed.push_back({host, std::move(list)});
    } else if (run::has_succeeded(jobs.result.outcomes[host])) {
      silent.push_back(host);
    }
    pass_on(answers.errors[host], run.plan.hosts[host], session);
  }
  if (!silent.empty()) {
    session.say({output::fold_hosts(run.plan.hosts, silent) + " sent no whole list of jobs"});
    jobs.result.status = std::max(jobs.result.status, kUnansweredStatus);
  }
  return jobs;
}

}  // namespace podrun::jobs
