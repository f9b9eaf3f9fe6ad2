// SPDX-License-Identifier: Apache-2.0
#include "cli/job_keepers.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/kept_jobs.hpp"
#include "podrun/jobs/kept_log.hpp"

#include "cli/kept_run.hpp"

namespace podrun::cli {
namespace {

constexpr int kAfterSignal = 128;

namespace fs = std::filesystem;

/// The entries of a directory; none, where there is no such directory.
std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  return entries;
}

/// Whether a file says that this machine has kept a job of one of these names (empty: of any). The file is
/// described in job_state.sh.
bool may_have_kept(const std::string& home, const std::vector<std::string>& names) {
  const fs::path all = fs::path(home) / ".podrun" / "jobs";
  std::vector<fs::path> jobs;
  for (const std::string& name : names) jobs.push_back(all / name);
  if (names.empty()) jobs = entries_of(all);
  std::error_code error;
  for (const fs::path& job : jobs) {
    for (const fs::path& start : entries_of(job / jobs::kPlaceOfThisMachine)) {
      if (fs::exists(start / "kept", error)) return true;
    }
  }
  return false;
}

jobs::KeptJobs ask(const Context& context, const std::vector<std::string>& names) {
  const std::optional<std::string> home = context.probe.env("HOME");
  if (home && !may_have_kept(*home, names)) return {};  // the usual case needs no shell
  session::SessionSpec spec = keeper_session(context.options, context.probe, context.terminal);
  spec.is_last = false;
  session::Session here(spec, context.probe, session::Session::Connections::closed);
  return jobs::kept_jobs(here, join(names, " "));
}

std::string describe_taken(const jobs::Job& job) {
  if (job.state == jobs::JobState::elsewhere)
    return jobs::describe_elsewhere(job.name, job.machine, jobs::kPlaceOfThisMachine);
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
  jobs::KeptJobs kept = ask(context, names);
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
  const jobs::KeptJobs kept = ask(context, {name});
  if (kept.interrupted_by) return kAfterSignal + *kept.interrupted_by;
  if (kept.jobs.empty()) return std::nullopt;
  const jobs::Job& job = kept.jobs.front();
  if (!job.is_active() && ended == EndedName::is_free) return std::nullopt;
  context.say({describe_taken(job)});
  return jobs::kTakenStatus;
}

}  // namespace podrun::cli
