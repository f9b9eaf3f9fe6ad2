// SPDX-License-Identifier: Apache-2.0
// Hints about programs that need a terminal: their names, and how they are found in a command.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/report/hint.hpp"

namespace podrun::report {
namespace {

/// A program that needs a terminal. (less and man print all without one.)
struct TerminalProgram {
  std::string_view name;
  std::string_view without = {};  ///< words with which it needs none
  bool waits = false;             ///< instead of failing
};
constexpr std::string_view kScripted = "-es -Es -c --headless --help --version";
constexpr std::array<TerminalProgram, 13> kTerminalPrograms = {
    {{"top", "-b"},
     {"htop"},
     {"btop"},
     {"nvtop"},
     {"iotop", "-b --batch"},
     {"vi", kScripted, true},
     {"vim", kScripted, true},
     {"nvim", kScripted, true},
     {"nano"},
     {"emacs", "-batch --batch"},
     {"watch"},
     {"screen", "-dm -ls -X"},
     {"tmux", "-d -V ls has-session kill-session kill-server send-keys"}}};

bool does_without(const TerminalProgram& program, std::string_view word) {
  // A cluster of letters, as in `top -bn1`.
  if (word.size() > 2 && word.starts_with("-b") && program.without.starts_with("-b")) return true;
  const std::vector<std::string_view> without = split(program.without, ' ');
  return std::find(without.begin(), without.end(), word) != without.end();
}

/// The program in a line for a shell that needs a terminal; null: none does.
const TerminalProgram* terminal_program(std::string_view line) {
  const TerminalProgram* found = nullptr;
  bool begins = true;  // a command
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const bool ends = word == "&&" || word == "||" || word == "|" || word.back() == ';';
    while (word.ends_with(';')) word.remove_suffix(1);
    if (begins && word != "sudo" && word.find('=') == word.npos) {
      if (found) return found;
      const auto* const program =
          std::find_if(kTerminalPrograms.begin(), kTerminalPrograms.end(),
                       [&](const TerminalProgram& each) { return each.name == word; });
      found = program == kTerminalPrograms.end() ? nullptr : program;
      begins = false;
    } else if (found && does_without(*found, word)) {
      found = nullptr;
    }
    begins = begins || ends;
  }
  return found;
}

const TerminalProgram* terminal_program(const supervisor::Command& command) {
  const auto* const words = std::get_if<supervisor::Words>(&command.what);
  const auto* const text = std::get_if<supervisor::ShellText>(&command.what);
  const std::string lines = words ? shell_quote(words->words) : text ? text->text : "";
  for (const std::string_view line : split(lines, '\n')) {
    if (const TerminalProgram* const program = terminal_program(line)) return program;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> terminal_hint(const supervisor::Command& command,
                                         const std::vector<hosts::Host>& hosts,
                                         const std::vector<run::HostOutcome>& outcomes,
                                         std::string_view called) {
  const TerminalProgram* const program = terminal_program(command);
  if (!program) return std::nullopt;
  const auto failed =
      std::find_if(outcomes.begin(), outcomes.end(), [program](const run::HostOutcome& outcome) {
        if (std::holds_alternative<run::Stopped>(outcome)) return program->waits;
        const auto* exited = std::get_if<link::Exited>(&outcome);
        return exited && exited->status != 0 && !exited->is_not_startable();
      });
  if (failed == outcomes.end()) return std::nullopt;
  const hosts::Host& host = hosts[static_cast<std::size_t>(failed - outcomes.begin())];
  return fmt::format("podrun: {} needs a terminal: {} ssh {}", program->name, called, host.worker);
}

std::optional<std::string> terminal_warning(const supervisor::Command& command,
                                            const std::vector<hosts::Host>& hosts, std::string_view called) {
  const TerminalProgram* const program = terminal_program(command);
  if (!program || !program->waits) return std::nullopt;
  return fmt::format("podrun: {} needs a terminal: {} ssh {} (Ctrl-C twice stops it here)", program->name,
                     called, hosts.front().worker);
}

}  // namespace podrun::report
