// SPDX-License-Identifier: Apache-2.0
#include "cli/job_keepers.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"
#include "podrun/jobs/kept_jobs.hpp"

#include "cli/kept_run.hpp"

namespace podrun::cli {

JobsByKeeper find_keepers(const Context& context, const std::vector<std::string>& names) {
  JobsByKeeper found{.on_hosts = names};
  if (context.options.hosts.lists == std::vector<std::string>{"local"}) return found;
  session::Session here(keeper_session(context.options, context.probe, context.terminal), context.probe,
                        session::Session::Connections::kept);
  found.kept = jobs::kept_jobs(here, join(names, " "));
  const auto is_kept = [&](const std::string& name) {
    return std::ranges::find(found.kept, name, &jobs::Job::name) != found.kept.end();
  };
  std::ranges::copy_if(names, std::back_inserter(found.here), is_kept);
  std::erase_if(found.on_hosts, is_kept);
  return found;
}

}  // namespace podrun::cli
