// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/log_request.hpp"

#include <memory>

#include "podrun/base/error.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/remembered.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/output/label.hpp"

namespace podrun::jobs {

JobAnswers find_job(session::Session& session, const session::RunSpec& run, LogRequest& request) {
  JobAnswers jobs = ask_jobs(session, run);
  if (jobs.answers.result.interrupted_by) return jobs;
  const std::vector<hosts::Host>& hosts = run.plan.hosts;
  request.places.clear();
  request.silences.clear();
  request.kept_start = 0;
  for (const ListedJobs& each : jobs.listed) {
    const Job* job = each.list.shown();
    if (job == nullptr) continue;
    const std::size_t worker = hosts[each.host].worker;
    if (!job->place.empty()) request.places.emplace(worker, job->place);
    if (const auto silence = job->output ? job->output : job->age) request.silences.emplace(worker, *silence);
    if (job->is_kept_here) request.kept_start = job->number;
  }
  session.say(describe_strays(request.name, hosts, jobs.listed));
  return jobs;
}

std::optional<KeptLog> show_as_kept(const session::Session& session, LogRequest& request,
                                    session::RunSpec& run) {
  if (request.kept_start == 0) {
    run.remembers_silent = request.follow && !request.is_silent;
    return std::nullopt;
  }
  std::optional<KeptLog> kept =
      find_kept_log(session.probe(), request.name, request.number == 0 ? request.kept_start : request.number);
  if (!kept) {
    if (request.workers)
      throw UsageError("logs: the hosts of " + request.name + " are not known (leave out --workers)");
    run.view.label = output::Label::none;
    return std::nullopt;
  }
  if (request.workers) {
    std::string chosen = *request.workers;
    if (const auto which = hosts::remembered_by(chosen))
      chosen = hosts::recall(*which, kept->hosts, session.probe()).workers;
    hosts::narrow(kept->hosts, {}, chosen);
    request.grep = output::pattern_of_stored(kept->hosts);
  }
  run.shown = kept->hosts;
  if (request.follow) {
    struct Words {
      std::optional<report::OwnWords> words = {};
      run::TimePoint until = {};
    };
    run.own_words = [&session, log = *kept, last = std::make_shared<Words>()](const run::Status&,
                                                                              run::TimePoint now) {
      constexpr std::chrono::seconds kBetween{1};
      if (now >= last->until) *last = {words_of_kept_run(session.probe(), log), now + kBetween};
      return last->words;
    };
  }
  return kept;
}

}  // namespace podrun::jobs
