// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
  restarts,         ///< starting a command again
  notify,           ///< telling somebody of the end
  task,             ///< of a task file
  output,           ///< how a command's output is shown
  json,
  files,   ///< copying files
  spread,  ///< copying files to hosts
  force,   ///< replacing files, or deleting all of them
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
  std::string_view topic = {};  ///< the heading in help
  OptionSet set = OptionSet::own;
  std::string_view names = {};    ///< `-t,--connect-timeout`; a flag gets a --no- form of its first long name
  std::string help = {};          ///< `{}` stands for the default
  std::string_view type = {};     ///< the word for its value: `TIME`
  std::string default_text = {};  ///< what its target is set to if the option is not given
  std::string_view choices = {};  ///< the values that there are, separated by blanks
  Merge merge = Merge::replaces;
  ValueKind value = ValueKind::plain;
  std::string_view subject = {};  ///< only one option about a subject counts; empty: its first long name
  bool common = false;            ///< on the page of `podrun --help`
  bool repeat_sets = false;       ///< the retry command of the final report sets it itself
};

/// How often and with what an option can be given. Of a value, flag and choice the last one counts.
enum class OptionKind {
  value,
  list,    ///< a value each time
  flag,    ///< `true`, or `false` by its --no- form
  choice,  ///< a flag that may have a value
  count    ///< how often
};

/// A value that an option has been given.
struct GivenValue {
  std::string text;
  std::string where;  ///< `command line`, `config.yaml:7`
};

/// One option: its row in the table, how it is given, and what it was given.
struct OptionEntry {
  OptionRow row;
  OptionKind kind = OptionKind::value;
  std::string_view owner;         ///< the command that alone takes it; empty: all that take row.set
  std::vector<std::string> keys;  ///< its long names without `--`
  std::string shown;              ///< its names in help, with the type of its value
  /// Throws UsageError without the name of the option: `bad … "value" (expected …)`.
  std::function<void(const std::string&)> set;
  std::vector<GivenValue> given;

  const std::string& key() const { return keys.front(); }
  std::string_view subject() const { return row.subject.empty() ? std::string_view(key()) : row.subject; }
  bool is_on_command_line() const;
};

/// Every option of podrun, for the command line, config.yaml and help alike.
class OptionTable {
 public:
  using Set = std::function<void(const std::string&)>;

  OptionTable();
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;
  ~OptionTable();

  /// Options added from now on are those of this command alone; empty: of several.
  void set_owner(std::string_view command) { owner_ = command; }

  /// These add an option.
  void value(const OptionRow& row, Set set) { add(row, OptionKind::value, std::move(set)); }
  void list(const OptionRow& row, Set set) { add(row, OptionKind::list, std::move(set)); }
  void flag(const OptionRow& row, std::function<void(bool)> set);
  void count(const OptionRow& row, int& target);
  /// A flag whose value is `implied` when it has none; `shown`: its names in help.
  void choice(const OptionRow& row, const std::string& implied, const std::string& shown, Set set);

  /// The result of parse().
  struct Parsed {
    bool asks_for_help = false;
    std::vector<std::string> extras;  ///< words that are no option and no option's value
  };
  /// Sets what these words say. Throws UsageError.
  Parsed parse(std::vector<std::string> words);

  /// False: no option has this name, or one letter of `-icw` names none.
  bool knows(const std::string& word) const;
  /// How many words this one begins: 2 where its option takes the next as its value.
  std::size_t words_of(const std::string& word) const;

  /// By any long name without `--`, or as it stands on the command line (`--no-append`, `--outdir=x`).
  OptionEntry* find(std::string_view key);
  const OptionEntry* find(std::string_view key) const;
  const OptionEntry* find_word(std::string_view word) const;
  bool is_given(std::string_view key) const;
  bool is_on_command_line(std::string_view key) const;
  const std::deque<OptionEntry>& entries() const { return entries_; }

 private:
  struct Cli;

  OptionEntry& add(const OptionRow& row, OptionKind kind, Set set, const std::string& implied = {});
  void take_values();

  std::unique_ptr<Cli> cli_;
  std::deque<OptionEntry> entries_;
  std::string_view owner_;
};

}  // namespace podrun::cli
