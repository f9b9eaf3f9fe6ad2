// SPDX-License-Identifier: Apache-2.0
// The one place that knows CLI11: takes the words of the command line apart, for the table of options.
#include "cli/option_table.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

#include "cli/option_values.hpp"

namespace podrun::cli {
namespace {

constexpr const char* kTyped = "command line";

/// As CLI11 wants it: `-d{bytes},--dedup{bytes},!--no-dedup`.
std::string flag_names(std::string_view names, const std::string& key, const std::string& implied) {
  std::vector<std::string> all;
  for (const std::string_view name : split(names, ','))
    all.push_back(fmt::format("{}{}", name, implied.empty() ? "" : '{' + implied + '}'));
  if (!key.starts_with("no-")) all.push_back("!--no-" + key);
  return join(all, ",");
}

/// `--verbose --verbose`: 2; a --no-verbose takes back those before it.
std::size_t count_of(const std::vector<std::string>& results) {
  const auto last_no = std::find(results.rbegin(), results.rend(), "false");
  return static_cast<std::size_t>(last_no - results.rbegin());
}

struct HasKey {
  std::string_view key;
  bool operator()(const OptionEntry& entry) const {
    return std::find(entry.keys.begin(), entry.keys.end(), key) != entry.keys.end();
  }
};

}  // namespace

struct OptionTable::Cli {
  CLI::App app;
  std::vector<CLI::Option*> options;  ///< one for each entry

  /// CLI11 says `--hosts: 1 required LIST missing`.
  std::string missing_value(const std::string& what) const {
    const CLI::Option* option = app.get_option_no_throw(what.substr(0, what.find(':')));
    if (!option) return what + " (see podrun help all)";
    return fmt::format("{}: its {} is missing (see podrun help all)", option->get_name(false, true),
                       option->get_type_name());
  }
  bool takes_value(const std::string& name) const {
    const CLI::Option* option = app.get_option_no_throw(name);
    return option && option->get_expected_min() > 0;
  }
};

bool OptionEntry::is_on_command_line() const {
  return std::ranges::find(given, kTyped, &GivenValue::where) != given.end();
}

OptionTable::OptionTable() : cli_(std::make_unique<Cli>()) {
  cli_->app.set_help_flag("-h,--help");
  cli_->app.allow_extras();
}

OptionTable::~OptionTable() = default;

OptionEntry& OptionTable::add(const OptionRow& row, OptionKind kind, Set set, const std::string& implied) {
  const bool takes_value = kind == OptionKind::value || kind == OptionKind::list;
  OptionEntry& entry = entries_.emplace_back();
  entry.row = row;
  entry.kind = kind;
  entry.owner = owner_;
  for (const std::string_view name : split(row.names, ',')) {
    if (name.starts_with("--")) entry.keys.emplace_back(name.substr(2));
  }
  entry.shown = fmt::format("{}{}{}", row.names, row.type.empty() ? "" : " ", row.type);
  entry.set = std::move(set);
  CLI::Option* option = nullptr;
  if (takes_value) {
    option = cli_->app.add_option(std::string(row.names))
                 ->type_name(std::string(row.type))
                 ->expected(1)
                 ->allow_extra_args(false);
  } else {
    option = cli_->app.add_flag(flag_names(row.names, entry.key(), implied));
  }
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  cli_->options.push_back(option);
  return entry;
}

void OptionTable::flag(const OptionRow& row, std::function<void(bool)> set) {
  add(row, OptionKind::flag, [set = std::move(set)](const std::string& value) { set(parse_boolean(value)); });
}

void OptionTable::count(const OptionRow& row, int& target) {
  add(row, OptionKind::count, [&target](const std::string& value) {
    target = static_cast<int>(std::min<std::size_t>(parse_count(value, 0), 9));
  });
}

void OptionTable::choice(const OptionRow& row, const std::string& implied, const std::string& shown,
                         Set set) {
  add(row, OptionKind::choice, std::move(set), implied).shown = shown;
}

OptionTable::Parsed OptionTable::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // as CLI11 wants it
  try {
    cli_->app.parse(words);
  } catch (const CLI::CallForHelp&) {
    return {.asks_for_help = true, .extras = cli_->app.remaining()};
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(cli_->missing_value(error.what()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (see podrun help all)", error.what()));
  }
  take_values();
  return {.asks_for_help = false, .extras = cli_->app.remaining()};
}

void OptionTable::take_values() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    OptionEntry& entry = entries_[i];
    std::vector<std::string> values = cli_->options[i]->results();
    if (values.empty()) continue;
    if (entry.kind == OptionKind::count) {
      values = {std::to_string(count_of(values))};
    } else if (entry.kind == OptionKind::flag || entry.kind == OptionKind::choice) {
      values = {values.back()};
    }
    for (const std::string& value : values) {
      try {
        entry.set(value);
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("--{}: {}", entry.key(), error.what()));
      }
      entry.given.push_back({value, kTyped});
    }
  }
}

bool OptionTable::knows(const std::string& word) const {
  const auto has = [this](const std::string& name) { return cli_->app.get_option_no_throw(name) != nullptr; };
  if (word.starts_with("--")) return has(word.substr(0, word.find('=')));
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (!has({'-', word[i]})) return false;
    if (cli_->takes_value({'-', word[i]})) return true;
  }
  return true;
}

std::size_t OptionTable::words_of(const std::string& word) const {
  if (word.starts_with("--")) return word.find('=') == std::string::npos && cli_->takes_value(word) ? 2 : 1;
  if (!word.starts_with('-')) return 1;
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (cli_->takes_value({'-', word[i]})) return i + 1 == word.size() ? 2 : 1;
  }
  return 1;
}

OptionEntry* OptionTable::find(std::string_view key) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), HasKey{key});
  return found == entries_.end() ? nullptr : &*found;
}

const OptionEntry* OptionTable::find(std::string_view key) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), HasKey{key});
  return found == entries_.end() ? nullptr : &*found;
}

const OptionEntry* OptionTable::find_word(std::string_view word) const {
  if (!word.starts_with("--")) return nullptr;
  const std::string_view name = word.substr(2, word.find('=') - 2);
  if (const OptionEntry* const entry = find(name)) return entry;
  return name.starts_with("no-") ? find(name.substr(3)) : nullptr;
}

bool OptionTable::is_given(std::string_view key) const {
  const OptionEntry* const entry = find(key);
  return entry && !entry->given.empty();
}

bool OptionTable::is_on_command_line(std::string_view key) const {
  const OptionEntry* const entry = find(key);
  return entry && entry->is_on_command_line();
}

}  // namespace podrun::cli
