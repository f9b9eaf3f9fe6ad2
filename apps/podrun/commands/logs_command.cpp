// SPDX-License-Identifier: Apache-2.0
// `podrun logs`: one run asks which hosts have the job, a second one shows its output.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/log_follow.hpp"
#include "podrun/output/label.hpp"

#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

constexpr int kFailedStatus = 1;

class LogsCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun logs"};
    rows.flag(cli::OptionSet::own, "--follow", "Follow the output until the job ends, and exit as it did",
              cli::into(request_.follow));
    rows.value(cli::OptionSet::own, "-n,--tail N", "Only the last N lines of each stream of each host",
               cli::into(request_.tail, cli::count_from(0)));
  }

  int run(const cli::Context& context) override {
    const std::vector<std::string>& names = context.options.operands;
    for (const std::string& name : names) jobs::check_job_name(name);
    if (request_.follow && names.size() > 1)
      throw UsageError("logs: --follow follows one job (give one name)");
    const session::SessionSpec spec = context.session_spec();
    if (context.options.dry_run) return context.answer(cli::describe_surroundings(list(spec, names.front())));
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    int status = 0;
    for (const std::string& name : names) {
      if (names.size() > 1) session.say({name + ':'});
      status = std::max(status, show(name, spec, session, context));
    }
    return status;
  }

 private:
  static session::RunSpec list(const session::SessionSpec& spec, const std::string& name) {
    return jobs::jobs_run(spec, {.action = "list", .job_names = name});
  }

  int show(const std::string& name, const session::SessionSpec& spec, session::Session& session,
           const cli::Context& context) {
    request_.name = name;
    session::RunSpec run = list(spec, name);
    const jobs::JobAnswers jobs = jobs::ask_jobs(session, run);
    if (jobs.answers.result.interrupted_by) return jobs.answers.result.status;
    std::vector<std::size_t> with_job;
    const int missing = report_missing(run.plan.hosts, jobs, with_job, session);
    if (with_job.empty()) return std::max(jobs.answers.result.status, missing);
    run.view = cli::view(context.options);
    const int status = jobs::show_log(session, std::move(run), with_job, request_).status;
    return std::max({jobs.answers.result.status, missing, status});
  }

  /// Tells the hosts with the job from those without. The status: 1 if hosts that have answered do not have
  /// it.
  int report_missing(const std::vector<hosts::Host>& hosts, const jobs::JobAnswers& jobs,
                     std::vector<std::size_t>& with_job, session::Session& session) const {
    std::vector<std::size_t> without;
    for (const jobs::ListedJobs& each : jobs.listed)
      (each.list.jobs.empty() ? without : with_job).push_back(each.host);
    if (without.empty()) return 0;
    const std::string where =
        without.size() == jobs.listed.size() ? "these hosts" : output::fold_hosts(hosts, without);
    session.say({fmt::format("there is no job {} on {}", request_.name, where)});
    return kFailedStatus;
  }

  jobs::LogRequest request_;
};

}  // namespace

std::unique_ptr<cli::Command> make_logs_command() { return std::make_unique<LogsCommand>(); }

}  // namespace podrun::commands
