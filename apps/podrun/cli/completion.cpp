// SPDX-License-Identifier: Apache-2.0
// Says what the word under the cursor may become: a command, an option that this command takes, or a value.
#include "cli/completion.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

#include "cli/books.hpp"
#include "cli/help.hpp"

namespace podrun::cli {
namespace {

using Words = std::vector<std::string>;

/// bash breaks `--label=host` into three words.
Words joined_at_equals(const Words& words) {
  Words joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "=" && !joined.empty() && joined.back().starts_with("--")) {
      joined.back() += '=';
      if (++i < words.size()) joined.back() += words[i];
    } else {
      joined.push_back(words[i]);
    }
  }
  return joined;
}

/// Whether bash takes only the part after `=` for the word under the cursor.
bool is_broken_at_equals(const Words& words) {
  return !words.empty() && (words.back() == "=" || (words.size() > 1 && words[words.size() - 2] == "="));
}

class Completer {
 public:
  Completer(std::span<const CommandRow> commands, const OptionTable& table, const CompletionSources& sources)
      : commands_(commands), table_(table), sources_(sources) {}

  /// Whether names of files may stand there too.
  bool wants_files() const { return wants_files_; }

  std::vector<std::string> complete(const Words& words) {
    current_ = words.empty() ? "" : words.back();
    const CommandRow* command = nullptr;
    std::size_t operands = 0;
    for (std::size_t i = 0; i + 1 < words.size();) {
      if (words[i] == "--") return {};
      const bool is_option = words[i].starts_with('-');
      const std::string word = command ? long_form(*command, words[i]) : words[i];
      const std::size_t count = is_option ? table_.words_of(word) : 1;
      if (i + count >= words.size()) {
        add_values(word);
        return std::move(found_);
      }
      if (command)
        operands += is_option ? 0 : 1;
      else if (!is_option)
        command = find_command(commands_, words[i]);
      if (!is_option && !command) return {};
      i += count;
    }
    if (current_.starts_with('-')) {
      add_options(command ? *command : default_command(commands_));
    } else if (!command) {
      add_commands();
    } else if (operands == 0) {
      add_operands(*command);
    }
    return std::move(found_);
  }

 private:
  /// `--follow` for the `-f` of `podrun logs`, which is another option elsewhere.
  static std::string long_form(const CommandRow& command, const std::string& word) {
    for (const ShortForm& form : command.short_forms) {
      if (word == form.letter) return std::string(form.name);
    }
    return word;
  }
  void add(std::string_view word, std::string_view description = {}) {
    if (word.starts_with(current_)) found_.push_back(fmt::format("{}\t{}", word, description));
  }
  void add_commands() {
    for (const CommandRow& row : commands_) {
      if (!row.runs_users_command) add(row.name, row.summary);
    }
  }
  void add_options(const CommandRow& command) {
    const std::size_t equals = current_.find('=');
    if (equals != std::string::npos) {
      add_values(current_.substr(0, equals), current_.substr(0, equals + 1));
      return;
    }
    for (const OptionEntry& option : table_.entries()) {
      if (!command.takes_option(option)) continue;
      for (const std::string_view name : split(option.row.names, ',')) {
        add(name, help_of(option));
        if (name.starts_with("--")) break;  // the others are for people's habits
      }
    }
    add("--help", "Print help");
  }
  void add_operands(const CommandRow& command) {
    const Operands& operands = command.operands;
    wants_files_ = operands.least > 0 && operands.words.empty() && !operands.is_host && !operands.is_job &&
                   !operands.has_command;
    for (const std::string_view operand : split(operands.words, ' ')) {
      if (!operand.empty()) add(operand);
    }
    if (operands.is_host) {
      add_all(sources_.workers());
      add_all(sources_.hosts());
    }
    if (operands.is_job) add_all(sources_.jobs());
    if (operands.is_command) {
      for (const CommandRow& row : commands_) add(row.name, row.summary);
    }
    if (operands.is_page) add_books(pages());
    if (operands.is_example) add_books(examples());
  }
  void add_books(std::span<const Book> books) {
    for (const Book& book : books) {
      if (!find_command(commands_, book.name)) add(book.name, subject_of(book));
    }
  }
  void add_scripts(const std::string& before) {
    for (const Book& example : examples()) {
      if (is_script(example)) add(before + std::string(example.name), subject_of(example));
    }
  }
  /// `before`: what the current word has in front of the value.
  void add_values(const std::string& word, const std::string& before = {}) {
    const OptionEntry* const option = entry_of(word);
    if (!option) return;
    wants_files_ = takes_file(*option);
    for (const std::string_view choice : split(option->row.choices, ' ')) {
      if (!choice.empty()) add(before + std::string(choice));
    }
    if (option->key() == "script" && current_.substr(before.size()).starts_with('@'))
      add_scripts(before + '@');
    if (option->key() == "pod") add_all(sources_.pods(), before);
    if (option->key() == "workers") add_list(sources_.workers(), before);
    if (option->row.value == ValueKind::host_list) add_list(sources_.hosts(), before);
  }
  static bool takes_file(const OptionEntry& option) {
    constexpr std::array<std::string_view, 3> kFiles = {"FILE", "DIR", "PATH"};
    return std::ranges::find(kFiles, option.row.type) != kFiles.end();
  }
  void add_all(const std::vector<std::string>& words, const std::string& before = {}) {
    for (const std::string& word : words) add(before + word);
  }
  /// The last element of a list with commas.
  void add_list(const std::vector<std::string>& words, const std::string& before) {
    const std::size_t comma = current_.rfind(',');
    add_all(words, comma == std::string::npos ? before : current_.substr(0, comma + 1));
  }
  const OptionEntry* entry_of(const std::string& word) const {
    if (word.starts_with("--")) return table_.find_word(word);
    for (const OptionEntry& option : table_.entries()) {
      const auto names = split(option.row.names, ',');
      const std::string letter{'-', word.back()};
      if (std::find(names.begin(), names.end(), letter) != names.end()) return &option;
    }
    return nullptr;
  }
  std::span<const CommandRow> commands_;
  const OptionTable& table_;
  const CompletionSources& sources_;
  std::string current_;
  bool wants_files_ = true;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> completions(const Words& words, std::span<const CommandRow> commands,
                                     const OptionTable& table, const CompletionSources& sources) {
  Completer completer(commands, table, sources);
  std::vector<std::string> found = completer.complete(joined_at_equals(words));
  if (is_broken_at_equals(words)) {
    for (std::string& line : found) line.erase(0, line.find('=') + 1);
  }
  if (found.empty() && !completer.wants_files()) found.emplace_back(kNothing);
  return found;
}

}  // namespace podrun::cli
