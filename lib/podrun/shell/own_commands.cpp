// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/own_commands.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "podrun/base/text.hpp"

namespace podrun::shell {
namespace {

constexpr std::array<std::string_view, 7> kWithColon = {":workers", ":hosts", ":connect", ":help",
                                                        ":worker",  ":quit",  ":exit"};
constexpr std::size_t kListedByHelp = 4;

}  // namespace

bool is_own_command(std::string_view line) {
  line = trim_space(line);
  if (line == "exit" || line == "logout") return true;
  return line.size() > 1 && line.front() == ':' && std::isalpha(static_cast<unsigned char>(line[1])) != 0;
}

std::string_view colon_command(std::string_view line) {
  const std::string_view name = take_word(line);
  return std::find(kWithColon.begin(), kWithColon.end(), name) == kWithColon.end() ? std::string_view()
                                                                                   : name;
}

std::vector<std::string> help() {
  return {
      "Each line runs on every connected host, in the user's shell there. The",
      "directory, the exported variables and those set by NAME=VALUE are kept.",
      "",
      "  :workers SET   run the next lines only on these, such as 0,3-7 (all: on all)",
      "  :hosts         list the hosts, and the directory of each",
      "  :connect       try the hosts again that are not connected",
      "  exit           leave the shell, as Ctrl-D does",
      "",
      "An open quote, loop or here-document continues at the prompt \"> \". A paste is",
      "one command; after a syntax error nothing of it runs. Tab completes only the",
      "commands of this list. Ctrl-C ends the commands of a line, and clears what is",
      "being typed. Programs that need a terminal (top, vim): podrun ssh N.",
  };
}

std::vector<std::string> completions() { return {kWithColon.begin(), kWithColon.begin() + kListedByHelp}; }

}  // namespace podrun::shell
