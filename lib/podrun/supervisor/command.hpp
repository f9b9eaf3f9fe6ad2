// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Composes the sh text that the supervisor runs on the hosts. Pure.
namespace podrun::supervisor {

/// Values are literal bytes without NUL. A secret one (`-e NAME`, `--env-file`) is not shown by --dry-run.
struct Variable {
  std::string name;
  std::string value;
  bool secret = false;

  friend bool operator==(const Variable&, const Variable&) = default;
};

/// A program and its arguments, run as exactly these words.
struct Words {
  std::vector<std::string> words;
};
/// Text for the user's login shell there.
struct ShellText {
  std::string text;
};
/// A local file to run there.
struct Script {
  std::string name;
  std::string content;
  std::vector<std::string> arguments;
  std::vector<std::string> interpreter = {};  ///< empty: by its `#!` line, else /bin/sh
};

enum class ShellStart { plain, login };

struct Command {
  std::variant<Words, ShellText, Script> what;
  std::vector<Variable> environment = {};  ///< a later one wins
  ShellStart shell = ShellStart::plain;
  std::vector<std::string> lists = {};  ///< names for is_host_list(): these are sent however long they are
};

/// Whether podrun sets the variable of this name to a list of all hosts: PODRUN_HOSTLIST and its like.
bool is_host_list(std::string_view name);

/// A file to put into the run's directory on the host before the start.
struct RemoteFile {
  std::string name;
  std::string content;
};

/// sh text in one line that exports the environment and sets the positional parameters to the words to
/// execute, and the files that text refers to.
struct RemoteCommand {
  std::string text;
  std::vector<RemoteFile> files;
  std::vector<std::string> lists = {};
};

/// A script of podrun's own, run by /bin/sh. It comes in a variable and keeps itself in $podrun_script:
/// others see the arguments of a process, and a file would need a channel of its own.
Command script_command(std::string_view script, std::vector<std::string> arguments);

/// Longer text goes as a file: `read` of a shell is slow, and Linux takes no word over 128 KiB.
inline constexpr std::size_t kMaxInlineText = 96 * 1024;
/// Bytes in one word of a command at the most (Linux: MAX_ARG_STRLEN, execve(2)).
inline constexpr std::size_t kMaxWord = 128 * 1024 - 1;

/// Throws UsageError when a word or a variable is longer than kMaxWord.
RemoteCommand build_command(const Command& command);

/// Whether the command names a variable that depends on which hosts take part (PODRUN_RANK, PODRUN_NUM_HOSTS,
/// lists of hosts): on some of them it would be another command.
bool uses_ranks(const RemoteCommand& command);

/// The values of PODRUN_* for one host.
struct RankVariables {
  std::size_t rank = 0;
  std::size_t hosts = 0;
  std::size_t worker = 0;
  std::string host = {};
  std::size_t slots = 0;       ///< of the host; 0: not known
  std::string host_list = {};  ///< one per line
  std::string slot_list = {};  ///< one per line, a blank line where not known; empty: none is known
  std::string host0 = {};      ///< empty: the host's own end of the connection, or else its `host`
  std::string addresses = {};  ///< one per line, in the order of the ranks; empty: host0 is all
  std::string run_id = {};
};

/// The argument of the supervisor's `go`, one line: first the part that differs by host, then the part that
/// all hosts of a run share.
std::string go_of_host(const RankVariables& variables);
std::string go_of_all(const RemoteCommand& command, const RankVariables& variables);

}  // namespace podrun::supervisor
