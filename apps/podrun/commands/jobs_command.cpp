// SPDX-License-Identifier: Apache-2.0
// `podrun ps`, `stop` and `rm`: their options.
#include <unistd.h>

#include <memory>
#include <set>
#include <string>

#include "podrun/base/error.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/manage_jobs.hpp"
#include "podrun/output/terminal.hpp"

#include "cli/job_names.hpp"
#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
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
    const session::SessionSpec spec = context.session_spec();
    if (context.options.dry_run)
      return context.answer(cli::describe_surroundings(jobs::manage_run(spec, plan_)));
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    const jobs::ManagedJobs done = jobs::manage_jobs(session, plan_);
    if (plan_.action == JobAction::list && plan_.names.empty() && !done.jobs.answers.result.interrupted_by) {
      const std::set<std::string> names = jobs::names_of(done.jobs);
      cli::set_seen_job_names({names.begin(), names.end()}, context.probe);
    }
    return done.status;
  }

 private:
  jobs::JobsPlan plan_;
};

}  // namespace

std::unique_ptr<cli::Command> make_ps_command() { return std::make_unique<JobsCommand>(JobAction::list); }
std::unique_ptr<cli::Command> make_stop_command() { return std::make_unique<JobsCommand>(JobAction::stop); }
std::unique_ptr<cli::Command> make_rm_command() { return std::make_unique<JobsCommand>(JobAction::remove); }

}  // namespace podrun::commands
