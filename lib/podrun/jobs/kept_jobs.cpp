// SPDX-License-Identifier: Apache-2.0
// Asks this machine for the jobs that it keeps, and waits for the first try of one.
#include "podrun/jobs/kept_jobs.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/jobs/log_follow.hpp"
#include "podrun/jobs/manage_jobs.hpp"

namespace podrun::jobs {
namespace {

constexpr std::chrono::milliseconds kLook{200};
constexpr std::chrono::seconds kSoon{1};  ///< a mistyped command has ended by then
constexpr int kOfSignals = 128;
constexpr int kNotStarted = 255;  ///< and it was told

void show_output(session::Session& here, const std::string& name, const session::View& view) {
  LogRequest request{.name = name};
  session::RunSpec run = list_run(here.spec(), name);
  find_job(here, run, request);
  run.view = view;
  run.view.label = output::Label::none;
  show_log(here, std::move(run), {0}, request);
}

std::vector<Job> kept_of(JobAnswers answers) {
  std::vector<Job> kept;
  for (ListedJobs& each : answers.listed) {
    for (Job& job : each.list.jobs) {
      if (job.is_kept_here) kept.push_back(std::move(job));
    }
  }
  return kept;
}

}  // namespace

std::vector<Job> kept_jobs(session::Session& here, const std::string& names) {
  return kept_of(ask_jobs(here, list_run(here.spec(), names)));
}

std::optional<int> await_begin(session::Session& here, const std::string& name, const session::View& view) {
  std::optional<run::TimePoint> begun;
  for (;;) {
    JobAnswers answers = ask_jobs(here, list_run(here.spec(), name));
    std::optional<int> signal = answers.answers.result.interrupted_by;
    const std::vector<Job> kept = kept_of(std::move(answers));
    if (kept.empty()) return signal ? kOfSignals + *signal : kNotStarted;
    if (!signal && !kept.front().is_active()) {
      show_output(here, name, view);
      return kept.front().status;
    }
    const run::TimePoint now = std::chrono::steady_clock::now();
    if (kept.front().tries > 0) {
      if (!begun) begun = now;
      if (signal || now - *begun >= kSoon) return std::nullopt;
    }
    if (!signal) {
      signal = here.wait_until(now + kLook, [&](run::TimePoint) {
        return output::StatusText{{fmt::format("{} is being started", name)}};
      });
    }
    if (!signal) continue;
    if (begun) return std::nullopt;
    const std::chrono::seconds grace = here.spec().limits.grace + kTimeToEnd;
    manage_jobs(here, {.action = JobAction::stop, .names = {name}, .grace = grace});
    return kOfSignals + *signal;
  }
}

}  // namespace podrun::jobs
