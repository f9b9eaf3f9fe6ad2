// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/transport/transport.hpp"

#include "cli/help.hpp"
#include "cli/help_search.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

class HelpCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override { return context.answer(text(context)); }

 private:
  static std::string text(const cli::Context& context) {
    const std::size_t width = cli::page_width();
    if (context.options.operands.empty()) return cli::overview_page(context.commands, context.table, width);
    const std::vector<std::string>& words = context.options.operands;
    const std::string& wanted = words.front();
    if (words.size() > 1) return found(context, words);
    if (wanted == "man") return cli::man_page(context.commands, context.table);
    if (wanted == "all") return cli::full_page(context.commands, context.table, width);
    if (wanted == "pages") return cli::list_of_books("Pages (podrun help NAME)", cli::pages(), width);
    const auto* const row = cli::find_command(context.commands, wanted);
    const cli::Book* const page = cli::find_book(cli::pages(), wanted);
    if (!row && !page) return found(context, words);
    if (!row) return cli::page_text(*page, width);
    return cli::command_page(*row, context.table, width) +
           (page ? '\n' + cli::page_text(*page, width) : cli::more_about(*row));
  }
  static std::string found(const cli::Context& context, const std::vector<std::string>& words) {
    std::string text = cli::search_page(words, context.commands, context.table, cli::page_width());
    if (text.empty()) refuse(context, join(words, " "));
    return text;
  }
  [[noreturn]] static void refuse(const cli::Context& context, const std::string& wanted) {
    std::vector<std::string_view> names{"all", "man", "pages"};
    for (const cli::CommandRow& row : context.commands) names.push_back(row.name);
    for (const cli::Book& page : cli::pages()) names.push_back(page.name);
    throw UsageError(fmt::format("help: nothing about \"{}\" ({}see podrun help; podrun help pages)", wanted,
                                 did_you_mean(wanted, names)));
  }
};

class ExampleCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override {
    if (!context.options.operands.empty())
      return context.answer(
          std::string(cli::example_named(context.options.operands.front(), "example").text));
    return context.answer(
        cli::list_of_books("Examples (podrun example NAME prints one, podrun -s @NAME runs a script)",
                           cli::examples(), cli::page_width()));
  }
};

class VersionCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override {
    return context.answer(cli::version_line() + (context.options.verbosity ? surroundings() : ""));
  }

 private:
  static std::string surroundings() {
    utsname system{};
    ::uname(&system);
    return fmt::format("{}\n{} {} {}\n", ssh::library_versions(), system.sysname, system.release,
                       system.machine);
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_example_command() { return std::make_unique<ExampleCommand>(); }

std::unique_ptr<cli::Command> make_help_command() { return std::make_unique<HelpCommand>(); }

std::unique_ptr<cli::Command> make_version_command() { return std::make_unique<VersionCommand>(); }

}  // namespace podrun::commands
