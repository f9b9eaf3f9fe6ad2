// SPDX-License-Identifier: Apache-2.0
// Writes the man page: the same rows as help, in roff.
#include "cli/man_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

#include "cli/help.hpp"

namespace podrun::cli {
namespace {

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
  std::string text = ".PP\n.EX\n";
  for (const std::string_view line : split(lines, '\n')) {
    if (!line.empty()) text += text_line(line.substr(std::min<std::size_t>(line.find_first_not_of(' '), 2)));
  }
  return text + ".EE\n";
}

std::string options(const OptionTable& table) {
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
  text += section("OPTIONS") + options(table) + section("EXIT STATUS") + text_line(kStatusText);
  text += section("FILES");
  text += tagged("~/.config/podrun/config.yaml",
                 "The file with the default of each option, and with the pods that --pod chooses.");
  text += tagged("~/podips.txt", "The hosts that podrun hosts --save has written.");
  text += tagged("~/.ssh/config, ~/.ssh/known_hosts", "Read as ssh reads them.");
  text += section("EXAMPLES") + as_it_stands(examples);
  return text + section("SEE ALSO") + ".BR ssh (1),\n.BR ssh_config (5)\n";
}

}  // namespace podrun::cli
