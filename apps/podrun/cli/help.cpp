// SPDX-License-Identifier: Apache-2.0
// Writes the pages of help and the man page: which options stand on a page, under which headings.
#include "cli/help.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/output/wrap.hpp"

#include "cli/option_rows.hpp"

namespace podrun::cli {
namespace {

constexpr std::size_t kLeastWidth = 80;
constexpr std::size_t kNames = 31;  ///< columns of an option's names, with the indentation
constexpr std::size_t kCommandNames = 14;
constexpr std::size_t kBookNames = 17;
constexpr std::size_t kCommonNames = 27;  ///< the same on the overview

/// Lines of text, all but the first after `indent` spaces.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0) {
  return output::wrap(text, width, indent) + '\n';
}

std::string describe(const std::string& names, std::string_view help, std::size_t column, std::size_t width) {
  const std::string left = "  " + names;
  const bool fits = left.size() + 2 <= column;
  return left + (fits ? std::string(column - left.size(), ' ') : '\n' + std::string(column, ' ')) +
         wrap(help, width, column);
}

/// `--hostfile,--machinefile FILE` without further long names.
std::string without_aliases(const std::string& names) {
  const std::size_t comma = names.find(',', names.find("--"));
  if (comma == std::string::npos) return names;
  const std::size_t type = std::min(names.find(' '), names.size());
  return names.substr(0, comma) + names.substr(type);
}

/// The names of an option as a command takes them, see ShortForm. `command`: null on the page of all.
std::string names_for(const OptionEntry& option, const CommandRow* command) {
  std::string names = option.shown;
  for (const ShortForm& form : command ? command->short_forms : std::span<const ShortForm>()) {
    const std::string own = fmt::format("{},", form.letter);
    if (names.starts_with(own)) names.erase(0, own.size());
    if (names.starts_with(form.name)) return own + names;
  }
  return names;
}

using Wanted = std::function<bool(const OptionEntry&)>;

/// The headings of the wanted options, in the order of the table.
std::vector<std::string_view> topics_of(const OptionTable& table, const Wanted& wanted) {
  std::vector<std::string_view> topics;
  for (const OptionEntry& option : table.entries()) {
    const std::string_view topic = option.row.topic;
    if (wanted(option) && std::find(topics.begin(), topics.end(), topic) == topics.end())
      topics.push_back(topic);
  }
  return topics;
}

/// Under their headings, which stand in the order of the table.
std::string describe_options(const OptionTable& table, const CommandRow* command, std::size_t width,
                             const Wanted& wanted) {
  std::string text;
  for (const std::string_view topic : topics_of(table, wanted)) {
    text += fmt::format("\n{}:\n", topic);
    for (const OptionEntry& option : table.entries()) {
      if (option.row.topic == topic && wanted(option))
        text += describe(names_for(option, command), help_of(option), kNames, width);
    }
    if (topic == kOtherTopic)
      text += describe("-h,--help", "Print help (--help all: every option)", kNames, width);
  }
  return text;
}

enum class Which { all, often_used };

std::string describe_commands(std::span<const CommandRow> commands, Which which, std::size_t width) {
  std::string text = "\nCommands:\n";
  for (const CommandRow& command : commands) {
    if (!command.runs_users_command && (which == Which::all || !command.is_rarely_used))
      text += describe(std::string(command.name), command.summary, kCommandNames, width);
  }
  return text;
}

std::string usage_of(const CommandRow& command) { return fmt::format("Usage:\n{}", command.usage); }

std::string examples_of(const CommandRow& command) {
  return command.examples.empty() ? "" : fmt::format("\nExamples:\n{}", command.examples);
}

/// The usage, the examples and the own options of a command.
std::string begin_page(const CommandRow& command, const OptionTable& table, std::size_t width) {
  return fmt::format("{}\n{}.\n{}", usage_of(command), command.summary, examples_of(command)) +
         describe_options(table, &command, width,
                          [&](const OptionEntry& option) { return option.owner == command.name; });
}

/// The most used options among the wanted ones; empty if there are none.
std::string describe_common(const OptionTable& table, const CommandRow* command, std::size_t width,
                            const Wanted& wanted) {
  std::string text;
  for (const OptionEntry& option : table.entries()) {
    if (option.row.common && wanted(option))
      text += describe(without_aliases(names_for(option, command)), help_of(option), kCommonNames, width);
  }
  return text.empty() ? text : "\nCommon options:\n" + text;
}

// The macros of man(7).

/// The text as a line in which roff sees no macro and no escape.
std::string text_line(std::string_view text) {
  std::string line = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      line += "\\e";
    else if (c == '-')
      line += "\\-";
    else
      line += c;
  }
  return line + '\n';
}

std::string section(std::string_view title) { return fmt::format(".SH {}\n", title); }

std::string paragraph(std::string_view text) { return ".PP\n" + text_line(text); }

std::string tagged(std::string_view tag, std::string_view text) {
  return ".TP\n.B " + text_line(tag) + text_line(text);
}

/// Lines as they stand, without the indentation of help.
std::string as_it_stands(std::string_view lines) {
  std::string text = ".PP\n.in 2n\n.EX\n";  // 78 columns fit

  for (const std::string_view line : split(lines, '\n')) {
    if (!line.empty()) text += text_line(line.substr(std::min<std::size_t>(line.find_first_not_of(' '), 2)));
  }
  return text + ".EE\n.in\n";
}

std::string man_options(const OptionTable& table) {
  std::string text;
  for (const std::string_view topic : topics_of(table, [](const OptionEntry&) { return true; })) {
    text += fmt::format(".SS {}\n", topic);
    for (const OptionEntry& option : table.entries()) {
      if (option.row.topic == topic) text += tagged(option.shown, help_of(option) + '.');
    }
  }
  return text;
}

}  // namespace

std::string help_of(const OptionEntry& option) {
  std::string help(option.row.help);
  if (const std::size_t mark = help.find("{}"); mark != std::string::npos)
    help.replace(mark, 2, option.row.default_text);
  return help;
}

std::string first_page(std::span<const CommandRow> commands, std::size_t width) {
  const CommandRow& run = default_command(commands);
  return usage_of(run) + examples_of(run) + '\n' +
         wrap(
             "podrun --help shows the commands and the most used options, podrun hosts the hosts that it "
             "finds.",
             width);
}

std::string overview_page(std::span<const CommandRow> commands, const OptionTable& table, std::size_t width) {
  std::string text = usage_of(default_command(commands)) +
                     describe_commands(commands, Which::often_used, width) +
                     describe_common(table, nullptr, width, [](const OptionEntry&) { return true; });
  text +=
      fmt::format("\n{}\n{}\n{}", wrap(kWordsText, width), wrap(kKeysText, width), wrap(kStatusText, width));
  return text + "\nMore: podrun COMMAND --help, podrun help all (every option), podrun help pages\n";
}

std::string short_command_page(const CommandRow& command, const OptionTable& table, std::size_t width) {
  std::string text = begin_page(command, table, width);
  text += describe_common(table, &command, width, [&](const OptionEntry& option) {
    return option.owner.empty() && command.takes_option(option);
  });
  const std::string all =
      command.runs_users_command ? "podrun help all" : fmt::format("podrun {} --help all", command.name);
  return text + fmt::format("\nMore: {} (every option){}\n", all,
                            command.page.empty() ? "" : fmt::format(", podrun help {}", command.page));
}

std::string command_page(const CommandRow& command, const OptionTable& table, std::size_t width) {
  std::string text = begin_page(command, table, width);
  text += describe_options(table, &command, width, [&](const OptionEntry& option) {
    return option.owner.empty() && command.takes_option(option);
  });
  if (command.reads_config) text += '\n' + wrap(kValuesText, width);
  if (command.runs_users_command)
    text += wrap(kWordsText, width) + wrap(kKeysText, width) + wrap(kStatusText, width);
  return text;
}

std::string more_about(const CommandRow& command) {
  return command.page.empty() ? "" : fmt::format("\nMore: podrun help {}\n", command.page);
}

std::string list_of_books(std::string_view heading, std::span<const Book> books, std::size_t width) {
  std::string text = fmt::format("{}:\n", heading);
  for (const Book& book : books)
    text += describe(std::string(book.name), subject_of(book), kBookNames, width);
  return text;
}

std::string full_page(std::span<const CommandRow> commands, const OptionTable& table, std::size_t width) {
  std::string text = "Usage:\n";
  for (const CommandRow& command : commands) text += command.usage;
  text += describe_commands(commands, Which::all, width);
  text += describe_options(table, nullptr, width, [](const OptionEntry&) { return true; });
  return text + '\n' + wrap(kWordsText, width) + wrap(kValuesText, width) + wrap(kKeysText, width) +
         wrap(kStatusText, width);
}

std::string man_page(std::span<const CommandRow> commands, const OptionTable& table) {
  const CommandRow& run = default_command(commands);
  std::string text = fmt::format(".TH PODRUN 1 \"\" \"{}\"\n", trim_space(version_line()));
  text += section("NAME") + "podrun \\- one command on every host of a TPU pod or GPU cluster, at once\n";
  std::string usage;
  std::string examples;
  for (const CommandRow& row : commands) {
    usage += row.usage;
    examples += row.examples;
  }
  text += section("SYNOPSIS") + as_it_stands(usage);
  text += section("DESCRIPTION") + text_line(std::string(run.summary) + '.');
  for (const std::string_view each : {kWordsText, kValuesText, kKeysText}) text += paragraph(each);
  text += section("COMMANDS");
  for (const CommandRow& row : commands) {
    if (!row.runs_users_command) text += tagged(row.name, std::string(row.summary) + '.');
  }
  text += section("OPTIONS") + man_options(table) + section("EXIT STATUS") + text_line(kStatusText);
  text += section("FILES");
  text += tagged("~/.config/podrun/config.yaml",
                 "The file with the default of each option, and with the pods that --pod chooses.");
  text += tagged("~/podips.txt", "The hosts that podrun hosts --save has written.");
  text += tagged("~/.ssh/config, ~/.ssh/known_hosts", "Read as ssh reads them.");
  text += section("EXAMPLES") + as_it_stands(examples);
  return text + section("SEE ALSO") + ".BR ssh (1),\n.BR ssh_config (5)\n";
}

std::string version_line() { return "podrun " PODRUN_VERSION "\n"; }

std::size_t page_width() {
  return output::is_terminal(STDOUT_FILENO) ? std::max(output::columns_of(STDOUT_FILENO), kLeastWidth)
                                            : kLeastWidth;
}

}  // namespace podrun::cli
