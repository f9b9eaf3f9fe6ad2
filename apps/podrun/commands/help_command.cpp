// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

#include "cli/help.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

class HelpCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override { return context.answer(page(context)); }

 private:
  static std::string page(const cli::Context& context) {
    const std::size_t width = cli::page_width();
    if (context.options.operands.empty()) return cli::overview_page(context.commands, context.table, width);
    const std::string& wanted = context.options.operands.front();
    if (wanted == "man") return cli::man_page(context.commands, context.table);
    if (wanted == "all") return cli::full_page(context.commands, context.table, width);
    if (const auto* const row = cli::find_command(context.commands, wanted))
      return cli::command_page(*row, context.table, width);
    std::vector<std::string_view> names{"all", "man"};
    for (const cli::CommandRow& row : context.commands) names.push_back(row.name);
    const auto nearest = nearest_name(wanted, names);
    throw UsageError(fmt::format("help: no command \"{}\" ({}see podrun help)", wanted,
                                 nearest ? fmt::format("did you mean {}? ", *nearest) : ""));
  }
};

class VersionCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override { return context.answer(cli::version_line()); }
};

}  // namespace

std::unique_ptr<cli::Command> make_help_command() { return std::make_unique<HelpCommand>(); }

std::unique_ptr<cli::Command> make_version_command() { return std::make_unique<VersionCommand>(); }

}  // namespace podrun::commands
