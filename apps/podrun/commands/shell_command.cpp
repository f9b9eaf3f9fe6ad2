// SPDX-License-Identifier: Apache-2.0
// `podrun shell`
#include <unistd.h>

#include <memory>

#include "podrun/base/error.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/shell/shell_session.hpp"

#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

class ShellCommand final : public cli::Command {
 public:
  void check(cli::Options& options, const cli::OptionTable& /*table*/) override {
    if (hosts::reads_standard_input(options.hosts))
      throw UsageError("shell: standard input has the lines, so -H - cannot read it too");
  }

  int run(const cli::Context& context) override {
    const supervisor::Command surroundings = cli::command_in_surroundings(context.options, context.probe);
    const shell::ShellSpec spec{.is_terminal = output::is_terminal(STDIN_FILENO),
                                .variables = surroundings.environment,
                                .shell = surroundings.shell,
                                .directory = cli::directory_of(context.options, context.probe),
                                .timeout = context.options.limits.timeout,
                                .view = cli::view(context.options)};
    return shell::run_shell(spec, context.session_spec(), context.probe);
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_shell_command() { return std::make_unique<ShellCommand>(); }

}  // namespace podrun::commands
