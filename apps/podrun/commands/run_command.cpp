// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <vector>

#include "podrun/base/error.hpp"
#include "podrun/jobs/kept_log.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/session/command_mode.hpp"

#include "cli/help.hpp"
#include "cli/kept_run.hpp"
#include "cli/restart_rows.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

class RunCommand final : public cli::Command {
 public:
  void check(cli::Options& options, const cli::OptionTable& table) override {
    cli::check_restarts(options, table);
  }

  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    if (!options.words && !options.script && output::is_terminal(STDIN_FILENO)) {
      if (options.arguments.empty())
        return context.answer(cli::first_page(context.commands, cli::page_width()));
      throw UsageError("no command (podrun [OPTIONS] -- COMMAND)");
    }
    supervisor::Command command = cli::read_command(options, context.probe);
    session::SessionSpec spec = context.session_for_reader();
    if (!options.kept_in.empty()) {  // for podrun ps
      spec.status.way = output::StatusWay::painted;
      spec.status.has_rate = false;
      spec.status.has_list = true;
      ::dup2(STDOUT_FILENO, STDERR_FILENO);  // a log in which all is in its order
      context.terminal->keep_status(options.kept_in + "/doing");
      command =
          restarts::with_variables(command, {{"PODRUN_JOB", context.probe.env("PODRUN_JOB").value_or("")}});
    }
    const session::RunSpec run = cli::users_run(options, context.probe, spec, command);
    if (options.dry_run)
      return context.describe(spec, cli::describe_restarts(options) + cli::describe_run(run));
    if (cli::has_restarts(options)) return run_with_restarts(context, spec, command);
    session::Session session(spec, context.probe, session::Session::Connections::closed);
    session::CommandMode mode(run, session);
    return context.tell_end(session::ended(run.plan.hosts, session.run(run, mode)));
  }

 private:
  static int run_with_restarts(const cli::Context& context, const session::SessionSpec& spec,
                               const supervisor::Command& command) {
    restarts::RestartSpec restarts = cli::restart_spec(context.options, context.probe);
    if (const std::string& directory = context.options.kept_in; !directory.empty()) {
      restarts.directory = directory;
      restarts.on_begin = [directory](std::size_t tries) { cli::note_tries(directory, tries); };
    }
    restarts.make_run = [&](const session::SessionSpec& now, const std::vector<supervisor::Variable>& first) {
      if (!context.options.kept_in.empty()) jobs::note_hosts(context.options.kept_in, now.hosts);
      return cli::users_run(context.options, context.probe, now, restarts::with_variables(command, first));
    };
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    return context.tell_end(
        restarts::ended(restarts::run_with_restarts(session, restarts), context.options.may_restart));
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace podrun::commands
