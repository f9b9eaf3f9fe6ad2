// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "podrun/hosts/probe.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/session/notify.hpp"

#include "cli/config_options.hpp"
#include "cli/option_table.hpp"
#include "cli/options.hpp"
#include "cli/specs_from_options.hpp"

namespace podrun::cli {

struct CommandRow;

/// Everything that a command needs to run.
struct Context {
  const Options& options;
  const OptionTable& table;
  const AppliedConfig& config;
  std::span<const CommandRow> commands;
  const hosts::Probe& probe;
  const std::shared_ptr<output::Terminal>& terminal;

  session::SessionSpec session_spec() const { return cli::session_spec(options, probe, terminal); }
  /// The same for a command that is of no use when nobody reads what the hosts print. With -q alone podrun
  /// may be run for its effect.
  session::SessionSpec session_for_reader() const {
    session::SessionSpec session = session_spec();
    session.needs_reader = !options.quiet || options.json;
    return session;
  }
  /// Prints text on standard output. The exit status: 1 or 141 when it cannot be written.
  int answer(const std::string& text) const { return output::print_answer(text, *terminal); }
  /// Prints each note on standard error, after `podrun: `.
  void say(const std::vector<std::string>& notes) const { output::print_notes(notes, *terminal); }
  /// The same for what is no error: nothing with -q.
  void note(const std::vector<std::string>& notes) const {
    if (!options.quiet) say(notes);
  }
  /// Runs the commands of --notify, and returns the exit status.
  int tell_end(const session::Ended& ended) const {
    session::notify(ended, options.notify, [this](const std::string& note) { say({note}); });
    return ended.status;
  }
  /// For --dry-run: the notes on the hosts, then the description of the run. The exit status.
  int describe(const session::SessionSpec& session, const std::string& text) const {
    note(session.notes);
    return answer(text);
  }
};

/// A podrun command: the options that are its alone, and what it does. Made for one command line.
class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  /// Adds the options that no other command takes; they write to the command itself.
  virtual void add_options(OptionTable& /*table*/) {}
  /// Refuses what contradicts itself, with the configuration applied. Throws UsageError.
  virtual void check(Options& /*options*/, const OptionTable& /*table*/) {}
  /// The exit status. Throws UsageError.
  virtual int run(const Context& context) = 0;
};

/// The words that are no options.
struct Operands {
  static constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);

  std::size_t least = 0;
  std::size_t most = 0;           ///< with kAnyNumber, `--` only ends the options
  std::string_view missing = {};  ///< the message when there are fewer than `least`
  std::string_view words = {};    ///< which they may be, separated by blanks; for completion
  bool is_host = false;           ///< one names a host
  bool has_command = false;       ///< the user's command follows them, after `--`
  bool is_command = false;        ///< one names a podrun command
  bool is_job = false;            ///< one names a job
  bool is_page = false;           ///< one names a page of docs/
  bool is_example = false;        ///< one names a file of examples/
  bool rest_is_its_own = false;   ///< words after the last operand are not podrun's options
};

/// A letter that stands for another option with one command: `-f` of `podrun logs`.
struct ShortForm {
  std::string_view letter;  ///< `-f`
  std::string_view name;    ///< `--follow`
};

/// An option that a command does not take, and what its user should know.
struct Refusal {
  std::string_view key;  ///< the option's long name without `--`
  std::string_view message;
};

/// A row of the table of commands, which commands/command_table.cpp holds.
struct CommandRow {
  std::string_view name;           ///< the first word of its command line
  std::string_view usage;          ///< lines of help
  std::string_view summary;        ///< one clause
  std::string_view examples = {};  ///< lines of help
  std::string_view page = {};      ///< the name of the page of docs/ about it, see books.hpp
  OptionSets takes;
  Operands operands = {};
  std::span<const ShortForm> short_forms = {};
  std::span<const Refusal> refusals = {};  ///< where "has no meaning here" says too little
  bool runs_users_command = false;         ///< the one that a command line without a command's name means
  bool reads_config = true;
  bool is_rarely_used = false;  ///< not on the page of `podrun --help`
  std::unique_ptr<Command> (*make)() = nullptr;

  bool takes_option(const OptionEntry& option) const {
    return option.owner.empty() ? takes.contains(option.row.set) : option.owner == name;
  }
};

/// Null: no command has this name.
const CommandRow* find_command(std::span<const CommandRow> commands, std::string_view name);

/// The command that a command line without a command's name means.
const CommandRow& default_command(std::span<const CommandRow> commands);

}  // namespace podrun::cli
