// SPDX-License-Identifier: Apache-2.0
// Writes the pages of help: which options stand on a page, under which headings, broken into lines.
#include "cli/help.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/cell_width.hpp"

#include "cli/run_options.hpp"

namespace podrun::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kNames = 31;        ///< columns of an option's names, with the indentation
constexpr std::size_t kCommonNames = 27;  ///< the same on the overview

constexpr std::string_view kWords =
    "Several words after -- run as exactly those words; one word is shell text, as\n"
    "with ssh.\n";
constexpr std::string_view kValues =
    "TIME is 10, 10s, 5m or 2h. Every option without a value has a --no- form.\n";
constexpr std::string_view kKeys =
    "Keys: Ctrl-C interrupts the commands; a second one sends TERM, then KILL after\n"
    "--grace; a third exits at once. Ctrl-\\ sends QUIT. Ctrl-Z suspends only podrun.\n"
    "Enter lists the hosts that run and those that failed.\n";
constexpr std::string_view kStatus =
    "Exit status: the largest of all hosts (the command's own; 124 timed out; 128+N\n"
    "killed by signal N; 255 unreachable or lost); 2 wrong usage; 130 or 143\n"
    "interrupted; 141 the reader of the output closed it.\n";

using Wanted = std::function<bool(const OptionEntry&)>;

/// Breaks `text` between words; lines after the first begin with `indent` spaces.
std::string wrap(const std::string& text, std::size_t indent) {
  std::string wrapped;
  std::size_t column = indent;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t width = output::cell_width(word);
    if (!wrapped.empty() && column + 1 + width > kWidth) {
      wrapped += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!wrapped.empty()) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += width;
  }
  return wrapped + '\n';
}

std::string describe(const std::string& names, std::string_view help, std::size_t column) {
  const std::string left = "  " + names;
  const bool fits = left.size() + 2 <= column;
  return left + (fits ? std::string(column - left.size(), ' ') : '\n' + std::string(column, ' ')) +
         wrap(std::string(help), column);
}

/// `--hostfile,--machinefile FILE` without further long names.
std::string without_aliases(const std::string& names) {
  const std::size_t comma = names.find(',', names.find("--"));
  if (comma == std::string::npos) return names;
  const std::size_t type = std::min(names.find(' '), names.size());
  return names.substr(0, comma) + names.substr(type);
}

std::string describe(const OptionEntry& option, const std::string& names, std::size_t column) {
  std::string help(option.row.help);
  if (const std::size_t mark = help.find("{}"); mark != std::string::npos)
    help.replace(mark, 2, option.row.default_text);
  return describe(names, help, column);
}

/// Under their headings, which stand in the order of the table.
std::string describe_options(const OptionTable& table, const Wanted& wanted) {
  std::vector<std::string_view> topics;
  for (const OptionEntry& option : table.entries()) {
    const std::string_view topic = option.row.topic;
    if (wanted(option) && std::find(topics.begin(), topics.end(), topic) == topics.end())
      topics.push_back(topic);
  }
  std::string text;
  for (const std::string_view topic : topics) {
    text += fmt::format("\n{}:\n", topic);
    for (const OptionEntry& option : table.entries()) {
      if (option.row.topic == topic && wanted(option)) text += describe(option, option.shown, kNames);
    }
    if (topic == kOtherTopic) text += describe("-h,--help", "Print help", kNames);
  }
  return text;
}

std::string describe_commands(std::span<const CommandRow> commands) {
  std::string text = "\nCommands:\n";
  for (const CommandRow& command : commands) {
    if (!command.runs_users_command) text += describe(std::string(command.name), command.summary, 11);
  }
  return text;
}

std::string usage_of(const CommandRow& command) { return fmt::format("Usage:\n{}", command.usage); }

}  // namespace

std::string overview_page(std::span<const CommandRow> commands, const OptionTable& table) {
  std::string text =
      usage_of(default_command(commands)) + describe_commands(commands) + "\nCommon options:\n";
  for (const OptionEntry& option : table.entries()) {
    if (option.row.common) text += describe(option, without_aliases(option.shown), kCommonNames);
  }
  text += fmt::format("\n{}\n{}\n{}", kWords, kKeys, kStatus);
  return text + "\npodrun COMMAND --help shows a command's page, podrun help all every option.\n";
}

std::string command_page(const CommandRow& command, const OptionTable& table) {
  std::string text = fmt::format("{}\n{}.\n", usage_of(command), command.summary);
  text += describe_options(table, [&](const OptionEntry& option) { return option.owner == command.name; });
  text += describe_options(
      table, [&](const OptionEntry& option) { return option.owner.empty() && command.takes_option(option); });
  if (command.reads_config) text += fmt::format("\n{}", kValues);
  if (command.runs_users_command) text += fmt::format("{}{}{}", kWords, kKeys, kStatus);
  return text;
}

std::string full_page(std::span<const CommandRow> commands, const OptionTable& table) {
  std::string text = "Usage:\n";
  for (const CommandRow& command : commands) text += command.usage;
  text += describe_commands(commands);
  text += describe_options(table, [](const OptionEntry&) { return true; });
  return text + fmt::format("\n{}{}{}{}", kWords, kValues, kKeys, kStatus);
}

}  // namespace podrun::cli
