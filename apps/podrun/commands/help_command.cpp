// SPDX-License-Identifier: Apache-2.0
#include "commands/help_command.hpp"

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/nearest_name.hpp"

#include "cli/help.hpp"
#include "commands/answers.hpp"

namespace podrun::commands {
namespace {

class HelpCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override { return answer(page(context), *context.terminal); }

 private:
  static std::string page(const cli::Context& context) {
    if (context.options.operands.empty()) return cli::overview_page(context.commands, context.table);
    const std::string& wanted = context.options.operands.front();
    if (wanted == "all") return cli::full_page(context.commands, context.table);
    if (const auto* const row = cli::find_command(context.commands, wanted))
      return cli::command_page(*row, context.table);
    std::vector<std::string_view> names{"all"};
    for (const cli::CommandRow& row : context.commands) names.push_back(row.name);
    const auto nearest = nearest_name(wanted, names);
    throw UsageError(fmt::format("help: no command \"{}\" ({}see podrun help)", wanted,
                                 nearest ? fmt::format("did you mean {}? ", *nearest) : ""));
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_help_command() { return std::make_unique<HelpCommand>(); }

}  // namespace podrun::commands
