// SPDX-License-Identifier: Apache-2.0
#include "commands/run_command.hpp"

#include <unistd.h>

#include "podrun/base/error.hpp"
#include "podrun/output/terminal.hpp"

#include "cli/help.hpp"
#include "commands/answers.hpp"
#include "commands/command_mode.hpp"
#include "commands/plan.hpp"
#include "commands/run_sequence.hpp"

namespace podrun::commands {
namespace {

class RunCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    if (!options.words && !options.script && output::is_terminal(STDIN_FILENO)) {
      if (options.arguments.empty())
        return answer(cli::first_page(context.commands, cli::page_width()), *context.terminal);
      throw UsageError("no command (podrun [OPTIONS] -- COMMAND)");
    }
    return start_plan(make_plan(options, context.probe), context,
                      [&](const Plan& plan, output::Charset charset) {
                        return std::make_unique<CommandMode>(plan, options, context.probe, charset);
                      });
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace podrun::commands
