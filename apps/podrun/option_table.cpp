// SPDX-License-Identifier: Apache-2.0
#include "option_table.hpp"

#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"

#include "option_values.hpp"

namespace podrun {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string_view usage) : usage_(usage) { column_width(33); }

  std::map<std::string, std::string> shown;  ///< by first long name: the names, where they are special

  std::string make_usage(const CLI::App*, std::string) const override { return usage_; }
  /// `-i,--include-local`: the footer tells of every --no-.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    const auto special =
        option->get_lnames().empty() ? shown.end() : shown.find(option->get_lnames().front());
    if (special != shown.end()) return special->second;
    const std::string names = CLI::Formatter::make_option_name(option, positional);
    return option->get_lnames().empty()
               ? names
               : names.substr(0, names.find(",--no-" + option->get_lnames().front()));
  }
  std::string make_group(std::string group, bool positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, positional);
    return text;
  }

 private:
  std::string usage_;
};

/// `-H,--hosts`
std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> split;
  for (std::size_t start = 0; start < names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    split.emplace_back(names.substr(start, end - start));
    start = end + 1;
  }
  return split;
}

/// As CLI11 wants it: `-d{bytes},--dedup{bytes},!--no-dedup`.
std::string flag_names(std::vector<std::string> names, const std::string& key, const std::string& implied) {
  for (std::string& name : names) {
    if (!implied.empty()) name += '{' + implied + '}';
  }
  if (!key.starts_with("no-")) names.push_back("!--no-" + key);
  return fmt::format("{}", fmt::join(names, ","));
}

/// `--verbose --verbose`: 2; a --no-verbose takes back those before it.
std::size_t count_of(const std::vector<std::string>& results) {
  const auto last_no = std::find(results.rbegin(), results.rend(), "false");
  return static_cast<std::size_t>(last_no - results.rbegin());
}

}  // namespace

struct OptionTable::Cli {
  CLI::App app;
  std::shared_ptr<HelpFormatter> formatter;
  std::vector<CLI::Option*> options;  ///< of each entry

  /// CLI11 says `--hosts: 1 required LIST missing`.
  std::string missing_value(const std::string& what) const {
    const CLI::Option* option = app.get_option_no_throw(what.substr(0, what.find(':')));
    if (!option) return what + " (see podrun --help)";
    return fmt::format("{}: its {} is missing (see podrun --help)", option->get_name(false, true),
                       option->get_type_name());
  }
  bool takes_value(const std::string& name) const {
    const CLI::Option* option = app.get_option_no_throw(name);
    return option && option->get_expected_min() > 0;
  }
};

OptionTable::OptionTable(std::string_view usage, std::string_view footer) : cli_(std::make_unique<Cli>()) {
  cli_->formatter = std::make_shared<HelpFormatter>(usage);
  cli_->app.formatter(cli_->formatter);
  cli_->app.footer(std::string(footer));
  cli_->app.set_help_flag();
  cli_->app.allow_extras();
}

OptionTable::~OptionTable() = default;

OptionEntry& OptionTable::add(const OptionText& text, OptionKind kind, Set set, const std::string& implied) {
  const bool takes_value = kind == OptionKind::value || kind == OptionKind::list;
  const std::vector<std::string> names = split_names(text.names);
  OptionEntry& entry = entries_.emplace_back();
  entry.group = text.group;
  for (const std::string& name : names) {
    if (name.starts_with("--")) entry.keys.push_back(name.substr(2));
  }
  entry.kind = kind;
  entry.default_text = text.default_text;
  entry.set = std::move(set);
  std::string description = text.description;
  if (const std::size_t mark = description.find("{}"); mark != std::string::npos)
    description.replace(mark, 2, text.default_text);
  CLI::Option* option = nullptr;
  if (takes_value) {
    option = cli_->app.add_option(text.names)->type_name(text.type)->expected(1)->allow_extra_args(false);
  } else {
    option = cli_->app.add_flag(flag_names(names, entry.key(), implied));
  }
  option->description(description)->group(text.group)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  cli_->options.push_back(option);
  if (!entry.default_text.empty()) entry.set(entry.default_text);
  return entry;
}

OptionEntry& OptionTable::value(const OptionText& text, Set set) {
  return add(text, OptionKind::value, std::move(set));
}

OptionEntry& OptionTable::list(const OptionText& text, Set set) {
  return add(text, OptionKind::list, std::move(set));
}

OptionEntry& OptionTable::flag(const OptionText& text, std::function<void(bool)> set) {
  return add(text, OptionKind::flag,
             [set = std::move(set)](const std::string& value) { set(parse_boolean(value)); });
}

OptionEntry& OptionTable::flag(const OptionText& text, bool& target) {
  return flag(text, [&target](bool is_on) { target = is_on; });
}

OptionEntry& OptionTable::count(const OptionText& text, int& target) {
  return add(text, OptionKind::count, [&target](const std::string& value) {
    target = static_cast<int>(std::min<std::size_t>(parse_count(value, 0), 9));
  });
}

OptionEntry& OptionTable::choice(const OptionText& text, const std::string& implied, const std::string& shown,
                                 Set set) {
  OptionEntry& entry = add(text, OptionKind::choice, std::move(set), implied);
  cli_->formatter->shown[entry.key()] = shown;
  return entry;
}

void OptionTable::add_help(const std::string& group) {
  cli_->app.set_help_flag("-h,--help", "Print this help")->group(group);
}

OptionTable::Parsed OptionTable::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // as CLI11 wants it
  try {
    cli_->app.parse(words);
  } catch (const CLI::CallForHelp&) {
    return {.asks_for_help = true, .extras = {}};
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(cli_->missing_value(error.what()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (see podrun --help)", error.what()));
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
      entry.given.push_back({value, "command line"});
    }
  }
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
  const auto found = std::find_if(entries_.begin(), entries_.end(), [key](const OptionEntry& entry) {
    return std::find(entry.keys.begin(), entry.keys.end(), key) != entry.keys.end();
  });
  return found == entries_.end() ? nullptr : &*found;
}

bool OptionTable::is_given(std::string_view key) {
  const OptionEntry* const entry = find(key);
  return entry && !entry->given.empty();
}

std::string OptionTable::help() const { return cli_->app.help(); }

}  // namespace podrun
