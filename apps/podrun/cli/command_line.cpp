// SPDX-License-Identifier: Apache-2.0
// Takes the words of the command line apart: which command they name, its operands, its options, and what
// follows `--`. Refuses words that are wrong, and options that contradict each other.
#include "cli/command_line.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

#include "cli/config_options.hpp"
#include "cli/habits.hpp"
#include "cli/help.hpp"
#include "cli/option_rows.hpp"
#include "cli/repeated_words.hpp"
#include "cli/specs_from_options.hpp"

namespace podrun::cli {
namespace {

/// The start of a message: of the user's own command it needs no name.
std::string said_by(const CommandRow& row) {
  return row.runs_users_command ? "" : fmt::format("{}: ", row.name);
}

bool asks_for_help(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](const auto& word) { return word == "-h" || word == "--help"; });
}

std::string page_of(const CommandRow& row) {
  return row.runs_users_command ? "podrun help all" : fmt::format("podrun {} --help", row.name);
}

/// `-N --label host`
bool contradicts_no_label(const OptionTable& table) {
  const auto given_last = [&table](std::string_view key) {
    const std::vector<GivenValue>& given = table.find(key)->given;
    return given.empty() ? "" : given.back().text;
  };
  return given_last("no-label") == "true" && table.is_given("label") && given_last("label") != "none";
}

/// --force and --append
void check_earlier_output(const Options& options, const OptionTable& table, const CommandRow& command) {
  const bool only_replaces =
      command.takes.contains(OptionSet::output) && !command.takes.contains(OptionSet::spread);
  if (options.force && options.outdir.empty() && only_replaces)
    throw UsageError("--force: it belongs to --outdir, or to podrun hosts --save (leave it out)");
  if (!table.is_on_command_line("append") || !options.append) return;
  if (options.outdir.empty())
    throw UsageError("--append: it belongs to --outdir (podrun --outdir DIR --append -- COMMAND)");
  if (options.force) throw UsageError("--append and --force contradict each other (give one)");
}

/// Runs before the configuration is applied, which leaves out what the command line has chosen.
void check_choice_of_hosts(const OptionTable& table) {
  for (const std::string_view other : {"hosts", "hostfile", "hosts-command"}) {
    for (const std::string_view one : {"pod", "hosts-command"}) {
      if (one != other && table.is_given(one) && table.is_given(other))
        throw UsageError(fmt::format("--{} and --{} both choose the hosts (give one)", one, other));
    }
  }
}

/// `spread: true` in the configuration has no effect where hosts cannot spread; --spread is refused there.
void check_spread(const Options& options, const OptionTable& table) {
  if (!options.spread || spreading(options) == transfer::Spreading::wanted) return;
  if (!table.is_on_command_line("spread")) return;
  throw UsageError(fmt::format("--spread and {} exclude each other (leave out --spread)",
                               options.sudo ? "--sudo" : "--via"));
}

/// Runs with the configuration applied. Also notes which limits were given.
void check_shared_options(Options& options, const OptionTable& table, const CommandRow& command) {
  if (table.is_on_command_line("cache") && !table.is_given("hosts-command"))
    throw UsageError("--cache: it belongs to --hosts-command (leave it out)");
  check_earlier_output(options, table, command);
  if (options.same_directory && options.directory)
    throw UsageError("--cwd and --chdir both name a directory (give one)");
  if (options.timestamps && options.gather)
    throw UsageError("--timestamps and --gather exclude each other (--gather prints all output at the end)");
  if (contradicts_no_label(table)) throw UsageError("-N and --label contradict each other (give one)");
  if (options.feed_input && options.limits.serial != 0) {
    throw UsageError(
        "--stdin and --serial exclude each other (standard input is read once, for all hosts together)");
  }
  check_spread(options, table);
  options.connect_timeout_given = table.is_given("connect-timeout");
  options.retries_given = table.is_given("retries");
  options.attempts_chosen =
      table.is_on_command_line("retries") || table.is_on_command_line("connect-timeout");
}

}  // namespace

const CommandRow* find_command(std::span<const CommandRow> commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &CommandRow::name);
  return found == commands.end() ? nullptr : &*found;
}

const CommandRow& default_command(std::span<const CommandRow> commands) {
  return *std::ranges::find_if(commands, &CommandRow::runs_users_command);
}

CommandLine::CommandLine(std::span<const CommandRow> commands) : rows_(commands) {
  add_shared_options(table_, options_);
  for (const CommandRow& row : rows_) {
    table_.set_owner(row.name);
    commands_.emplace_back(row.make())->add_options(table_);
  }
  table_.set_owner({});
  add_other_options(table_, options_);
}

std::optional<std::string> CommandLine::parse(Words arguments, const hosts::Probe& probe,
                                              const std::string& kept_in) {
  options_.arguments = arguments;
  options_.kept_in = kept_in;
  const auto rest = arguments.begin() + static_cast<std::ptrdiff_t>(end_of_operands(arguments));
  options_.rest.assign(rest, arguments.end());
  arguments.erase(rest, arguments.end());
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  const Words left = expand_short_forms({arguments.begin(), separator});
  if (separator != arguments.end()) options_.words.emplace(separator + 1, arguments.end());
  for (const std::string& word : left) {
    if (word == "-dlog" || word.starts_with("-d=")) throw UsageError("-d takes no value (write --dedup=log)");
  }
  check_first_word(left, {separator, arguments.end()});
  if (!options_.words) check_dashes(left);
  OptionTable::Parsed parsed = table_.parse(left);
  if (parsed.asks_for_help) return help(parsed.extras);
  if (options_.version) return version_line();
  extras_ = std::move(parsed.extras);
  options_.arguments_to_repeat = words_to_repeat(table_, left);
  options_.arguments_to_repeat.insert(options_.arguments_to_repeat.end(), separator, arguments.end());
  options_.arguments_of_run = words_of_run(table_, left);
  options_.words_for_hosts = words_for_hosts(table_);
  take_command(left);
  check_options_taken();
  check_choice_of_hosts(table_);
  if (row_->reads_config) config_ = apply_config(table_, options_, *row_, probe);
  if (!kept_in.empty())
    options_.json = false;  // config.yaml may ask for it; logs show what a kept run prints
  check_shared_options(options_, table_, *row_);
  commands_[static_cast<std::size_t>(row_ - rows_.data())]->check(options_, table_);
  return std::nullopt;
}

bool CommandLine::asks_for_json() const {
  const Words& words = options_.arguments;
  return options_.json ||
         std::any_of(words.begin(), std::find(words.begin(), words.end(), "--"),
                     [](const auto& word) { return word == "--json" || word.starts_with("--json="); });
}

int CommandLine::run(const hosts::Probe& probe, const std::shared_ptr<output::Terminal>& terminal) {
  const Context context{options_, table_, config_, rows_, probe, terminal};
  return commands_[static_cast<std::size_t>(row_ - rows_.data())]->run(context);
}

/// After the name of a command, its own letters become the names of its options.
CommandLine::Words CommandLine::expand_short_forms(const Words& left) const {
  Words expanded;
  const CommandRow* row = nullptr;
  for (std::size_t i = 0, count = 0; i < left.size(); i += count) {
    count = std::min(table_.words_of(left[i]), left.size() - i);
    const ShortForm* form = nullptr;
    for (const ShortForm& each : row ? row->short_forms : std::span<const ShortForm>()) {
      if (left[i].starts_with(each.letter)) form = &each;
    }
    if (form) {
      count = 1;
      expanded.emplace_back(form->name);
      if (left[i] != form->letter) expanded.push_back('-' + left[i].substr(form->letter.size()));
      continue;
    }
    if (!row && !left[i].starts_with('-')) row = find_command(rows_, left[i]);
    for (std::size_t word = i; word < i + count; ++word) expanded.push_back(left[word]);
  }
  return expanded;
}

/// The first word before `--` that is neither an option nor an option's value names a podrun command, or it
/// and all words after it are the user's command. Words after an unknown option may be its value.
void CommandLine::check_first_word(const Words& left, const Words& rest) const {
  std::size_t first = 0;
  while (first < left.size() && left[first].starts_with('-') && left[first] != "-") {
    if (!table_.knows(left[first])) return;
    first += table_.words_of(left[first]);
  }
  if (first >= left.size()) return;
  const CommandRow* const row = find_command(rows_, left[first]);
  if (row && !row->runs_users_command) return;
  const auto place = left.begin() + static_cast<std::ptrdiff_t>(first);
  TypedWords typed{{left.begin(), place}, {place, left.end()}};
  if (asks_for_help(typed.options) && !answer_to_value(typed)) return;
  typed.words.insert(typed.words.end(), rest.begin(), rest.end());
  std::vector<std::string_view> names;
  for (const CommandRow& each : rows_) {
    if (!each.runs_users_command) names.push_back(each.name);
  }
  throw UsageError(answer_to_word(typed, nearest_name(left[first], names)));
}

/// Of `start train python train.py`, only `--` says where the user's command begins.
void CommandLine::check_dashes(const Words& left) const {
  const CommandRow* row = nullptr;
  std::size_t operands = 0;
  for (std::size_t i = 0; i < left.size(); i += table_.words_of(left[i])) {
    if (left[i].starts_with('-')) {
      if (!table_.knows(left[i])) return;
      continue;
    }
    if (row && ++operands > row->operands.most) {
      const auto place = left.begin() + static_cast<std::ptrdiff_t>(i);
      const TypedWords typed{{left.begin(), place}, {place, left.end()}};
      throw UsageError(fmt::format("{}: {}", row->name, answer_to_missing_dashes(typed)));
    }
    if (!row) row = find_command(rows_, left[i]);
    if (!row || !row->operands.has_command) return;
  }
}

/// In `[OPTIONS] ssh [OPTIONS] HOST [ARG...]` how many words come before ARG; else all do.
std::size_t CommandLine::end_of_operands(const Words& words) const {
  const CommandRow* row = nullptr;
  std::size_t operands = 0;
  for (std::size_t i = 0; i < words.size() && words[i] != "--";) {
    if (words[i].starts_with('-')) {
      i += table_.words_of(words[i]);
    } else if (row) {
      ++i;
      if (++operands == row->operands.most) return i;
    } else {
      row = find_command(rows_, words[i++]);
      if (!row || !row->operands.rest_is_its_own) break;
    }
  }
  return words.size();
}

/// The page of the command that is named, else that of all commands; `--help all`: with every option.
std::string CommandLine::help(const Words& extras) const {
  const CommandRow* const row = extras.empty() ? nullptr : find_command(rows_, extras.front());
  const bool wants_all = !extras.empty() && extras.back() == "all";
  if (!row && wants_all) return full_page(rows_, table_, page_width());
  if (!row) return overview_page(rows_, table_, page_width());
  return wants_all ? command_page(*row, table_, page_width()) + more_about(*row)
                   : short_command_page(*row, table_, page_width());
}

void CommandLine::take_command(const Words& left) {
  row_ = extras_.empty() ? nullptr : find_command(rows_, extras_.front());
  if (!row_) {
    row_ = &default_command(rows_);
    if (!extras_.empty()) refuse_option(extras_.front(), left);
    return;
  }
  options_.operands.assign(extras_.begin() + 1, extras_.end());
  for (const std::string& word : options_.operands) {
    if (word.starts_with('-') && word != "-") refuse_option(word, left);
  }
  if (row_->operands.most == Operands::kAnyNumber && options_.words) {
    options_.operands.insert(options_.operands.end(), options_.words->begin(), options_.words->end());
    options_.words.reset();
  }
  check_operands();
}

void CommandLine::check_operands() const {
  const Words& operands = options_.operands;
  if (operands.size() < row_->operands.least)
    throw UsageError(fmt::format("{}: {}", row_->name, row_->operands.missing));
  if (options_.words && !row_->operands.has_command)
    throw UsageError(
        fmt::format("{}: takes no command (leave out \"--\" and everything after it)", row_->name));
  if (operands.size() > row_->operands.most) {
    if (row_->operands.has_command)
      throw UsageError(fmt::format("{}: {}", row_->name, row_->operands.missing));
    throw UsageError(fmt::format("{}: unexpected \"{}\" (see podrun {} --help)", row_->name,
                                 operands[row_->operands.most], row_->name));
  }
}

void CommandLine::refuse_option(const std::string& word, const Words& left) const {
  if (const auto answer = answer_to_option(word, left)) throw UsageError(said_by(*row_) + *answer);
  std::vector<std::string_view> names;
  for (const OptionEntry& option : table_.entries()) {
    if (row_->takes_option(option)) names.insert(names.end(), option.keys.begin(), option.keys.end());
  }
  std::optional<std::string> nearest;
  if (word.starts_with("--")) nearest = nearest_name(word.substr(2, word.find('=') - 2), names);
  throw UsageError(fmt::format("{}unknown option \"{}\" ({}see {}{})", said_by(*row_), word,
                               nearest ? fmt::format("did you mean --{}? ", *nearest) : "", page_of(*row_),
                               row_->runs_users_command ? "; put the command's own options after --" : ""));
}

/// Refuses options that the command does not take.
void CommandLine::check_options_taken() const {
  for (const OptionEntry& option : table_.entries()) {
    if (!option.is_on_command_line() || row_->takes_option(option)) continue;
    for (const Refusal& refusal : row_->refusals) {
      if (refusal.key == option.key()) throw UsageError(std::string(refusal.message));
    }
    if (!option.owner.empty()) {
      throw UsageError(fmt::format("{}--{} is an option of podrun {} (podrun {} --{}{})", said_by(*row_),
                                   option.key(), option.owner, option.owner, option.key(),
                                   option.row.type.empty() ? "" : " ..."));
    }
    throw UsageError(fmt::format("{}--{} has no meaning here (leave it out)", said_by(*row_), option.key()));
  }
}

}  // namespace podrun::cli
