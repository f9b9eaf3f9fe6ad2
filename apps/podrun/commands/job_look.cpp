// SPDX-License-Identifier: Apache-2.0
#include "commands/job_look.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/jobs/job_scripts.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"

#include "commands/answers.hpp"

namespace podrun::commands {
namespace {

constexpr int kUnansweredStatus = 1;
constexpr std::chrono::seconds kTimeToLook{60};

/// `[3] left behind: pid 12 (sleep) of ada`
void pass_on(const std::string& complaints, const hosts::Host& host, const cli::Context& context) {
  for (std::string_view line : split(complaints, '\n')) {
    if (line.starts_with("podrun: ")) line.remove_prefix(std::string_view("podrun: ").size());
    if (!line.empty())
      say({fmt::format("[{}] {}", host.worker, output::escape_controls(std::string(line)))},
          *context.terminal);
  }
}

}  // namespace

remote::RemoteCommand jobs_command(std::vector<std::string> arguments) {
  return remote::build_command(remote::script_command(jobs::kJobsScript, std::move(arguments)));
}

Plan make_job_plan(std::vector<std::string> arguments, const cli::Context& context,
                   std::chrono::seconds grace) {
  return make_look_plan(context.options, context.probe, jobs_command(std::move(arguments)),
                        grace + kTimeToLook);
}

JobLook look_at_jobs(RunSequence& runs, const Plan& plan, const cli::Context& context) {
  JobLook jobs;
  jobs.look = look(runs, plan, context);
  std::vector<std::size_t> silent;
  for (std::size_t host = 0; host < jobs.look.replies.size(); ++host) {
    jobs::JobList list = jobs::parse_job_list(jobs.look.replies[host], plan.run.run_id);
    if (list.is_complete) {
      jobs.listed.push_back({host, std::move(list)});
    } else if (run::has_succeeded(jobs.look.outcomes[host])) {
      silent.push_back(host);
    }
    pass_on(jobs.look.complaints[host], plan.run.hosts[host], context);
  }
  if (!silent.empty()) {
    say({output::fold_hosts(plan.run.hosts, silent) + " sent no whole list of jobs"}, *context.terminal);
    jobs.look.status = std::max(jobs.look.status, kUnansweredStatus);
  }
  return jobs;
}

}  // namespace podrun::commands
