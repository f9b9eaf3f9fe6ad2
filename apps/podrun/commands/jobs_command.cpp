// SPDX-License-Identifier: Apache-2.0
// `podrun ps`, `stop` and `rm`: their options.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/kept_jobs.hpp"
#include "podrun/jobs/manage_jobs.hpp"
#include "podrun/output/terminal.hpp"

#include "cli/job_keepers.hpp"
#include "cli/job_names.hpp"
#include "cli/kept_run.hpp"
#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/podrun_inside.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

using jobs::JobAction;

class JobsCommand final : public cli::Command {
 public:
  explicit JobsCommand(JobAction action) { plan_.action = action; }

  void add_options(cli::OptionTable& table) override {
    if (plan_.action != JobAction::remove) return;
    const cli::Rows rows{table, "podrun rm"};
    rows.flag(cli::OptionSet::own, "--all", "Remove all jobs that have ended", cli::into(plan_.all_ended));
  }

  int run(const cli::Context& context) override {
    plan_.names = context.options.operands;
    for (const std::string& name : plan_.names) jobs::check_job_name(name);
    if (plan_.action == JobAction::remove && plan_.all_ended == !plan_.names.empty())
      throw UsageError(plan_.all_ended ? "rm: both names and --all are given (choose one)"
                                       : "rm: which job? (podrun rm NAME, or --all; podrun ps lists them)");
    plan_.grace = context.options.limits.grace;
    plan_.json = context.options.json;
    plan_.columns = output::is_terminal(STDOUT_FILENO) ? output::columns_of(STDOUT_FILENO) : 0;
    if (context.options.dry_run)
      return context.answer(cli::describe_surroundings(jobs::manage_run(context.session_spec(), plan_)));
    cli::JobsByKeeper by = cli::find_keepers(context, plan_.names);
    if (by.interrupted) return *by.interrupted;
    if (plan_.action == JobAction::list) return list(context, std::move(by));
    int status = 0;
    if (plan_.all_ended) {
      for (const jobs::Job& job : by.kept) {
        if (!job.is_active()) by.here.push_back(job.name);
      }
    }
    if (!by.here.empty()) {
      jobs::JobsPlan plan = plan_;
      plan.all_ended = false;
      plan.names = by.here;
      plan.grace = grace_of(by.kept, context) + jobs::kTimeToEnd;
      session::SessionSpec here = cli::keeper_session(context.options, context.probe, context.terminal);
      here.is_last = by.on_hosts.empty() && !plan_.all_ended;
      const jobs::ManagedJobs done = manage(context, here, plan);
      status = done.status;
      if (done.jobs.answers.result.interrupted_by) return status;
    }
    plan_.names = by.on_hosts;
    if (plan_.names.empty() && !plan_.all_ended) return status;
    const session::SessionSpec spec = context.session_spec();
    const jobs::ManagedJobs done = manage(context, spec, plan_);
    if (plan_.action == JobAction::remove && done.status == 0)
      cli::note_removed(jobs::names_of(done.jobs), spec.hosts, context.probe);
    if (!plan_.all_ended) say_left(context, spec, plan_.action == JobAction::stop ? "stop" : "rm");
    return std::max(status, done.status);
  }

 private:
  static jobs::ManagedJobs manage(const cli::Context& context, const session::SessionSpec& spec,
                                  const jobs::JobsPlan& plan) {
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    return jobs::manage_jobs(session, plan);
  }

  /// Hosts that have left the list since.
  void say_left(const cli::Context& context, const session::SessionSpec& spec, std::string_view verb) const {
    context.note(cli::describe_left(spec.hosts, plan_.names, verb, context.probe));
  }

  /// A kept run gives its hosts the grace period that it was started with.
  std::chrono::seconds grace_of(const std::vector<jobs::Job>& kept, const cli::Context& context) const {
    std::chrono::seconds grace = plan_.grace;
    for (const jobs::Job& job : kept) {
      if (!job.is_active() || plan_.action != JobAction::stop) continue;
      if (context.table.is_on_command_line("grace") && plan_.grace != job.grace)
        context.note({fmt::format("{} gives its hosts {}: the --grace of its start", job.name,
                                  format_duration(job.grace))});
      grace = std::max(grace, job.grace);
    }
    return grace;
  }

  /// Where no hosts are known, the jobs of this machine are the whole list.
  int list(const cli::Context& context, cli::JobsByKeeper by) {
    plan_.kept = std::move(by.kept);
    const bool needs_hosts = plan_.names.empty() || !by.on_hosts.empty();
    session::SessionSpec spec;
    if (needs_hosts) {
      try {
        spec = context.session_spec();
      } catch (const hosts::NoHosts& error) {
        if (plan_.kept.empty()) throw;
        context.note({error.what()});
      }
    }
    if (spec.hosts.empty()) return context.answer(jobs::describe_kept(plan_));
    if (cli::is_only_here(spec)) plan_.kept.clear();  // it lists them
    const bool is_all = plan_.names.empty();
    plan_.names = std::move(by.on_hosts);
    const jobs::ManagedJobs done = manage(context, spec, plan_);
    if (is_all && !done.jobs.answers.result.interrupted_by) {
      std::set<std::string> names = jobs::names_of(done.jobs);
      for (const jobs::Job& job : plan_.kept) names.insert(job.name);
      cli::note_listed(names, spec.hosts, context.probe);
    }
    say_left(context, spec, "ps");
    return done.status;
  }

  jobs::JobsPlan plan_;
};

}  // namespace

std::unique_ptr<cli::Command> make_ps_command() { return std::make_unique<JobsCommand>(JobAction::list); }
std::unique_ptr<cli::Command> make_stop_command() { return std::make_unique<JobsCommand>(JobAction::stop); }
std::unique_ptr<cli::Command> make_rm_command() { return std::make_unique<JobsCommand>(JobAction::remove); }

}  // namespace podrun::commands
