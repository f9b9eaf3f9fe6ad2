// SPDX-License-Identifier: Apache-2.0
#include "cli/job_keepers.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/kept_jobs.hpp"

#include "cli/kept_run.hpp"

namespace podrun::cli {
namespace {

constexpr int kAfterSignal = 128;

jobs::KeptJobs ask(const Context& context, const std::string& names) {
  session::SessionSpec spec = keeper_session(context.options, context.probe, context.terminal);
  spec.is_last = false;
  session::Session here(spec, context.probe, session::Session::Connections::closed);
  return jobs::kept_jobs(here, names);
}

std::string describe_taken(const jobs::Job& job) {
  if (job.state == jobs::JobState::elsewhere)
    return jobs::describe_elsewhere(job.name, job.machine, "0-local");
  if (!job.is_active())
    return fmt::format("this machine has kept a job {0}, which has ended (podrun rm {0} removes its files)",
                       job.name);
  return fmt::format("{0} runs already, kept by this machine (podrun logs -f {0}; podrun stop {0})",
                     job.name);
}

}  // namespace

JobsByKeeper find_keepers(const Context& context, const std::vector<std::string>& names) {
  JobsByKeeper found{.on_hosts = names};
  if (context.options.hosts.lists == std::vector<std::string>{"local"}) return found;
  jobs::KeptJobs kept = ask(context, join(names, " "));
  if (kept.interrupted_by) found.interrupted = kAfterSignal + *kept.interrupted_by;
  found.kept = std::move(kept.jobs);
  const auto is_kept = [&](const std::string& name) {
    return std::ranges::find(found.kept, name, &jobs::Job::name) != found.kept.end();
  };
  std::ranges::copy_if(names, std::back_inserter(found.here), is_kept);
  std::erase_if(found.on_hosts, is_kept);
  return found;
}

std::optional<int> say_if_kept(const Context& context, const std::string& name, EndedName ended) {
  const jobs::KeptJobs kept = ask(context, name);
  if (kept.interrupted_by) return kAfterSignal + *kept.interrupted_by;
  if (kept.jobs.empty()) return std::nullopt;
  const jobs::Job& job = kept.jobs.front();
  if (!job.is_active() && ended == EndedName::is_free) return std::nullopt;
  context.say({describe_taken(job)});
  return jobs::kTakenStatus;
}

}  // namespace podrun::cli
