// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

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

/// One option: its names, and what its values must be.
struct OptionEntry {
  std::string group;
  std::vector<std::string> keys;  ///< its long names without `--`
  OptionKind kind = OptionKind::value;
  std::string default_text;
  /// Throws UsageError without the name of the option: `bad … "value" (expected …)`.
  std::function<void(const std::string&)> set;
  bool command_line_only = false;  ///< makes no sense in a file
  std::vector<GivenValue> given;

  const std::string& key() const { return keys.front(); }
};

/// What the help says of an option.
struct OptionText {
  std::string group;
  std::string names;        ///< `-t,--connect-timeout`; a flag gets a --no- form of its first long name
  std::string description;  ///< `{}` stands for the default
  std::string type = {};    ///< what its value is: `TIME`
  std::string default_text = {};
};

/// Every option of podrun, for the command line and the configuration alike.
class OptionTable {
 public:
  using Set = std::function<void(const std::string&)>;

  OptionTable(std::string_view usage, std::string_view footer);
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;
  ~OptionTable();

  /// These add an option. A default is set at once, by the same check as every other value.
  OptionEntry& value(const OptionText& text, Set set);
  OptionEntry& list(const OptionText& text, Set set);
  OptionEntry& flag(const OptionText& text, std::function<void(bool)> set);
  OptionEntry& flag(const OptionText& text, bool& target);
  OptionEntry& count(const OptionText& text, int& target);
  /// A flag whose value is `implied` when it has none; `shown`: its names in the help.
  OptionEntry& choice(const OptionText& text, const std::string& implied, const std::string& shown, Set set);

  /// Adds --help, which stands last.
  void add_help(const std::string& group);

  /// What parse() found.
  struct Parsed {
    bool asks_for_help = false;
    std::vector<std::string> extras;  ///< words that are no option and no option's value
  };
  /// Sets what these words say. Throws UsageError.
  Parsed parse(std::vector<std::string> words);

  /// How many words this one begins: 2 where its option takes the next as its value.
  std::size_t words_of(const std::string& word) const;

  /// By any long name without `--`; null: there is none.
  OptionEntry* find(std::string_view key);
  bool is_given(std::string_view key);
  const std::deque<OptionEntry>& entries() const { return entries_; }
  std::string help() const;

 private:
  struct Cli;

  OptionEntry& add(const OptionText& text, OptionKind kind, Set set, const std::string& implied = {});
  void take_values();

  std::unique_ptr<Cli> cli_;
  std::deque<OptionEntry> entries_;
};

}  // namespace podrun
