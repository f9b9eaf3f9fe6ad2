// SPDX-License-Identifier: Apache-2.0
// Asks this machine for the jobs that it keeps, and waits for the first try of one.
#include "podrun/jobs/kept_jobs.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/jobs/manage_jobs.hpp"
#include "podrun/jobs/show_log.hpp"

namespace podrun::jobs {
namespace {

constexpr std::chrono::milliseconds kLook{200};
constexpr std::chrono::seconds kSoon{1};  ///< a mistyped command has ended by then
constexpr int kOfSignal = 128;

void show_output(session::Session& here, const std::string& name) {
  LogRequest request{.name = name};
  session::RunSpec run = list_run(here.spec(), name);
  find_job(here, run, request);
  show_log(here, std::move(run), {0}, request);
}

/// The exit status.
int take_back(session::Session& here, const std::string& name, int signal) {
  const std::chrono::seconds grace = here.spec().limits.grace + kTimeToEnd;
  if (manage_jobs(here, {.action = JobAction::stop, .names = {name}, .grace = grace}).status == 0)
    manage_jobs(here, {.action = JobAction::remove, .names = {name}});
  return kOfSignal + signal;
}

}  // namespace

KeptJobs kept_jobs(session::Session& here, const std::string& names) {
  JobAnswers answers = ask_jobs(here, list_run(here.spec(), names));
  KeptJobs kept{.interrupted_by = answers.answers.result.interrupted_by};
  for (ListedJobs& each : answers.listed) {
    for (Job& job : each.list.jobs) {
      if (job.is_kept_here) kept.jobs.push_back(std::move(job));
    }
  }
  return kept;
}

std::optional<int> await_begin(session::Session& here, const std::string& name) {
  std::optional<run::TimePoint> begun;
  for (;;) {
    const KeptJobs kept = kept_jobs(here, name);
    std::optional<int> signal = kept.interrupted_by;
    const Job* const job = kept.jobs.empty() ? nullptr : &kept.jobs.front();
    if (!job && !signal) return kUnknownStatus;  // somebody has removed it
    if (job && !signal && !job->is_active()) {
      show_output(here, name);
      return job->state == JobState::ended ? job->status : kUnknownStatus;
    }
    const run::TimePoint now = std::chrono::steady_clock::now();
    if (job && job->tries > 0 && !begun) begun = now;
    if (begun && (signal || now - *begun >= kSoon)) return std::nullopt;
    if (!signal) {
      signal = here.wait_until(now + kLook, [&](run::TimePoint) {
        return output::StatusText{{fmt::format("{} is being started", name)}};
      });
    }
    if (signal && begun) return std::nullopt;
    if (signal) return take_back(here, name, *signal);
  }
}

}  // namespace podrun::jobs
