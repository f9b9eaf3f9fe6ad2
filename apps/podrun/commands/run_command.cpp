// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <utility>

#include "podrun/base/error.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/session/command_mode.hpp"

#include "cli/help.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

class RunCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    if (!options.words && !options.script && output::is_terminal(STDIN_FILENO)) {
      if (options.arguments.empty())
        return context.answer(cli::first_page(context.commands, cli::page_width()));
      throw UsageError("no command (podrun [OPTIONS] -- COMMAND)");
    }
    supervisor::Command command = cli::read_command(options, context.probe);
    const session::SessionSpec spec = context.session_spec();
    const session::RunSpec run = cli::users_run(options, context.probe, spec, std::move(command));
    if (options.dry_run) return context.describe(spec, cli::describe_run(run));
    session::Session session(spec, context.probe, session::Session::Connections::closed);
    session::CommandMode mode(run, session);
    return session.run(run, mode).status;
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace podrun::commands
