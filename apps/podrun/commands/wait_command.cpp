// SPDX-License-Identifier: Apache-2.0
// `podrun wait`: follows jobs to their end without their output.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/show_log.hpp"

#include "cli/job_keepers.hpp"
#include "cli/kept_run.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

constexpr int kNoJobStatus = 1;

class WaitCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override {
    const std::vector<std::string>& names = context.options.operands;
    for (const std::string& name : names) jobs::check_job_name(name);
    if (context.options.dry_run)
      return context.answer(
          cli::describe_surroundings(jobs::list_run(context.session_for_reader(), names.front())));
    jobs::LogRequest request{.name = {}, .follow = true, .is_silent = true};
    if (context.options.limits.timeout) {
      request.time_limit = context.options.limits.timeout;
      request.gives_up_at = std::chrono::steady_clock::now() + *request.time_limit;
    }
    const cli::JobsByKeeper by = cli::find_keepers(context, names);
    if (by.interrupted) return *by.interrupted;
    session::SessionSpec here = cli::keeper_session(context.options, context.probe, context.terminal);
    here.is_last = by.on_hosts.empty();
    int status = 0;
    if (!by.here.empty()) status = wait_for_all(by.here, request, here, context);
    if (by.on_hosts.empty() || is_interrupted_) return status;
    return std::max(status, wait_for_all(by.on_hosts, request, context.session_for_reader(), context));
  }

 private:
  int wait_for_all(const std::vector<std::string>& names, jobs::LogRequest request,
                   const session::SessionSpec& spec, const cli::Context& context) {
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    int status = 0;
    for (const std::string& name : names) {
      request.name = name;
      const session::Ended ended = wait_for(request, spec, session, context);
      context.tell_end(ended);
      status = std::max(status, ended.status);
      is_interrupted_ = ended.is_interrupted;
      if (is_interrupted_) return ended.status;
    }
    return status;
  }

  static session::Ended wait_for(jobs::LogRequest& request, const session::SessionSpec& spec,
                                 session::Session& session, const cli::Context& context) {
    session::Ended ended{.job = request.name};
    session::RunSpec run = jobs::list_run(spec, request.name);
    const jobs::JobAnswers jobs = jobs::find_job(session, run, request);
    ended.status = jobs.answers.result.status;
    ended.is_interrupted = jobs.answers.result.interrupted_by.has_value();
    if (ended.is_interrupted) return ended;
    std::vector<std::size_t> with_job;
    std::vector<std::size_t> without;
    for (const jobs::ListedJobs& each : jobs.listed)
      (each.list.jobs.empty() ? without : with_job).push_back(each.host);
    for (const std::size_t host : with_job) ended.hosts.push_back(run.plan.hosts[host]);
    if (!without.empty()) {
      jobs::say_not_there(session, run.plan.hosts, jobs, without, request.name);
      ended.status = std::max(ended.status, kNoJobStatus);
    }
    if (with_job.empty()) return ended;
    run.view = cli::view(context.options);
    const session::RunResult result = jobs::show_log(session, std::move(run), with_job, request);
    ended.status = std::max(ended.status, result.status);
    ended.goes_on = result.interrupted_by == jobs::kSignalOfLimit;
    ended.is_interrupted = result.interrupted_by && !ended.goes_on;
    ended.outcomes = result.outcomes;
    return ended;
  }

  bool is_interrupted_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> make_wait_command() { return std::make_unique<WaitCommand>(); }

}  // namespace podrun::commands
