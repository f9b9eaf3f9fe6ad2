// SPDX-License-Identifier: Apache-2.0
// `podrun start`: its options, and the job that they ask for.
#include <unistd.h>

#include <memory>
#include <utility>

#include "podrun/base/error.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/output/terminal.hpp"

#include "cli/job_names.hpp"
#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

class StartCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun start"};
    rows.value(cli::OptionSet::own, "--log-size SIZE",
               "Keep only the last SIZE of each stream's output on each host ({})",
               cli::into(job_.log_size, cli::parse_size), {.default_text = cli::size_option(job_.log_size)});
  }

  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    job_.name = options.operands.front();
    jobs::check_job_name(job_.name);
    if (!options.words && !options.script && output::is_terminal(STDIN_FILENO))
      throw UsageError("start: which command? (podrun start NAME -- COMMAND)");
    supervisor::Command command = cli::read_command(options, context.probe);
    const session::SessionSpec spec = context.session_spec();
    session::RunSpec run = cli::users_run(options, context.probe, spec, std::move(command));
    if (options.dry_run) return context.describe(spec, cli::describe_run(run));
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    const int status = jobs::start_job(session, spec, std::move(run), job_);
    if (status == 0) cli::add_seen_job_name(job_.name, context.probe);
    return status;
  }

 private:
  jobs::JobStart job_;
};

}  // namespace

std::unique_ptr<cli::Command> make_start_command() { return std::make_unique<StartCommand>(); }

}  // namespace podrun::commands
