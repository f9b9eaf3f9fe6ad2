// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

// A row of the table of options: its place in help, the commands that take it, and its use in config.yaml.
namespace podrun::cli {

/// Options that the same commands take: a command's row names the sets that it takes.
enum class OptionSet : std::uint8_t {
  reach,            ///< which hosts, and how they are reached
  general,          ///< --verbose, --version
  looks,            ///< --color, --progress
  connect_timeout,  ///< the limit for a login
  start,            ///< reaching all hosts to do something there
  surroundings,     ///< environment and shell of a command
  directory,        ///< the directory of a command
  timeout,          ///< the limit for a command
  script,           ///< a script as the command
  clean_up,         ///< what a TPU host needs before a command
  batches,          ///< which hosts a command runs on, and its input
  task,             ///< of a task file
  output,           ///< how a command's output is shown
  json,
  files,  ///< copying files
  force,  ///< replacing files, or deleting all of them
  dry_run,
  own  ///< only for the command that adds the option
};

class OptionSets {
 public:
  constexpr OptionSets(std::initializer_list<OptionSet> sets) {
    for (const OptionSet set : sets) bits_ |= bit(set);
  }
  constexpr bool contains(OptionSet set) const { return (bits_ & bit(set)) != 0; }

 private:
  static constexpr std::uint32_t bit(OptionSet set) { return 1U << static_cast<unsigned>(set); }
  std::uint32_t bits_ = 0;
};

/// How a value of config.yaml combines with one of the command line, and a pod's with one of `defaults`.
enum class Merge : std::uint8_t {
  replaces,    ///< the command line wins over the pod, and the pod over `defaults`
  adds,        ///< all count
  not_allowed  ///< the option belongs to one run
};

/// The kinds of values that config.yaml reads in its own way.
enum class ValueKind : std::uint8_t {
  plain,
  host_list,      ///< `^FILE` in it counts from the directory of config.yaml
  local_file,     ///< counts from the directory of config.yaml
  here,           ///< a path that counts from where podrun is started; `~` is home
  variable,       ///< `NAME=VALUE` or `NAME`: the value is not shown
  variable_file,  ///< a local file of such lines
  ssh_keyword,    ///< `KEY=VALUE`, as for `ssh -o`
  jump_hosts,
  via_words
};

/// One option, in the table of all.
struct OptionRow {
  std::string_view topic;  ///< the heading in help
  OptionSet set;
  std::string_view names;      ///< `-t,--connect-timeout`; a flag gets a --no- form of its first long name
  std::string_view help;       ///< `{}` stands for the default
  std::string_view type = {};  ///< the word for its value: `TIME`
  std::string_view default_text = {};  ///< set at once, and checked as every other value
  std::string_view choices = {};       ///< the values that there are, separated by blanks
  Merge merge = Merge::replaces;
  ValueKind value = ValueKind::plain;
  std::string_view subject = {};  ///< only one option about a subject counts; empty: its first long name
  bool common = false;            ///< on the page of `podrun --help`
  bool repeat_sets = false;       ///< the retry command of the final report sets it itself
};

}  // namespace podrun::cli
