// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/supervisor/command.hpp"

// A line of `podrun shell`: its sh text, and the state that it leaves to the next line on the same host.
// Pure but for make_ids().
namespace podrun::shell {

/// The command of the run: evaluates the line in the user's own shell there, and reports the state that it
/// leaves (StateFilter). It needs the run's directory. `names`: the variables to report if they are set and
/// not exported.
std::string line_text(std::string_view line, supervisor::ShellStart shell,
                      const std::set<std::string>& names = {});

/// An id for the report of each host: what one host learns of it is of no use on another, or for another
/// line.
std::vector<std::string> make_ids(std::size_t hosts);

/// Checks for the programs that line.sh needs. Fails as the supervisor does where one is missing.
supervisor::Preparation need_tools();

/// The names that a line may assign by NAME=VALUE, more rather than fewer: words of its commands may look the
/// same.
std::set<std::string> assigned_names(std::string_view line);

/// The part of the command that differs by host, and precedes line_text(). `restored`: sh text for the start
/// of the line. `id`: begins the lines of the report; random for each host and line, since no other output
/// may pass for the report.
std::string host_text(std::string_view restored, std::string_view id);

/// The working directory and the variables of a shell. podrun's own variables and those of the
/// connection are left out.
struct KeptState {
  std::string directory;
  std::string directory_before;                   ///< for `cd -`
  std::map<std::string, std::string> variables;   ///< exported
  std::map<std::string, std::string> plain = {};  ///< not exported

  friend bool operator==(const KeptState&, const KeptState&) = default;
};

/// Reads what inside.sh writes. None if it is cut.
std::optional<KeptState> parse_kept_state(std::string_view bytes);

/// The sh text that turns a shell with the variables of `fresh` into one in `now`. It may have newlines.
std::string restore(const KeptState& fresh, const KeptState& now);

/// Removes the lines that report a host's directory and variables (line.sh) from its output, wherever they
/// stand and in whatever pieces they arrive. All other bytes stay as they are, also lines with another id. An
/// incomplete report or a second one is not believed.
class StateFilter final : public run::OutputFilter {
 public:
  /// `ids`: one for each host, as for host_text().
  explicit StateFilter(const std::vector<std::string>& ids);

  Chunk pass(std::size_t host, Chunk bytes) override;
  Chunk finish(std::size_t host) override;

  /// The reported state; none if there was no report, an incomplete one, or several (is_in_doubt()).
  std::optional<KeptState> state_of(std::size_t host) const;
  /// True if the output has more lines with the id than one report.
  bool is_in_doubt(std::size_t host) const { return hosts_[host].in_doubt; }

 private:
  struct Reading {
    std::string start;          ///< "~podrun1 <id> "
    std::string held = {};      ///< may be the beginning of a report's line
    std::string reported = {};  ///< base64
    bool complete = false;
    bool in_doubt = false;
  };

  static void take_lines(Reading& reading, std::string& text);
  static std::size_t possible_start(const Reading& reading, std::string_view text);

  std::vector<Reading> hosts_;
};

}  // namespace podrun::shell
