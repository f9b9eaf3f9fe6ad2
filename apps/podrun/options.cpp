// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/nearest_name.hpp"
#include "podrun/base/shell_quote.hpp"

#include "config_options.hpp"
#include "config_report.hpp"
#include "option_groups.hpp"
#include "option_table.hpp"

namespace podrun {
namespace {

using NamedTask = std::pair<std::string_view, Task>;
constexpr std::array kTasks = {NamedTask{"hosts", Task::hosts}, NamedTask{"check", Task::check},
                               NamedTask{"config", Task::config}, NamedTask{"ssh", Task::ssh}};

/// Options of commands, by the groups of the help.
constexpr std::array kWhatRuns = {"script",   "env",   "env-file", "cwd",  "chdir",
                                  "clean-up", "login", "sudo",     "stdin"};
constexpr std::array kStartAndEnd = {"fanout",  "serial", "retries",   "skip-unreachable",
                                     "timeout", "grace",  "fail-fast", "orphan-timeout"};
constexpr std::array kOutput = {"dedup", "window", "late",   "rank0", "gather",
                                "json",  "outdir", "append", "escape"};

constexpr std::string_view kUsage =
    "Usage: podrun [OPTIONS] -- COMMAND [ARG...]     run a command on every host, stream what it prints\n"
    "       podrun [OPTIONS] -s SCRIPT [-- ARG...]   send a local script, run it on every host\n"
    "       echo 'text' | podrun [OPTIONS]           shell text from standard input\n"
    "       podrun hosts [OPTIONS]                   which hosts, and where they were found\n"
    "       podrun check [OPTIONS]                   can every host be reached, and do they agree?\n"
    "       podrun config [OPTIONS]                  the options in effect, and where they come from\n"
    "       podrun [OPTIONS] ssh RANK [ARG...]       an ordinary ssh to one host, as podrun reaches it\n";
constexpr std::string_view kFooter =
    "Several words after -- run as exactly those words; one word is shell text, as with ssh.\n"
    "Durations: 10, 10s, 5m, 2h. Every option without a value has its --no-.\n"
    "Keys: Ctrl-C interrupts the commands; again: TERM, and KILL after --grace; again: leaves at once.\n"
    "Ctrl-\\ sends them QUIT, Ctrl-Z pauses podrun and not them, Enter lists who runs and who has failed.\n"
    "Exit status: the largest of the hosts': 0, the command's, 124 timed out, 128+N killed by signal N,\n"
    "255 unreachable or lost; 2 wrong usage; 130 and 143 interrupted, 141 the reader has left.";

/// Binds every option of the command line to one Options.
class CommandLine {
 public:
  CommandLine() { add_options(table_, options_); }

  std::variant<Options, Answer> parse(std::vector<std::string> arguments, const Probe& probe) {
    options_.arguments = arguments;
    const auto ssh_words = arguments.begin() + static_cast<std::ptrdiff_t>(end_of_ssh_rank(arguments));
    options_.ssh_words.assign(ssh_words, arguments.end());
    arguments.erase(ssh_words, arguments.end());
    const auto separator = std::find(arguments.begin(), arguments.end(), "--");
    const std::vector<std::string> left(arguments.begin(), separator);
    if (separator != arguments.end()) options_.words.emplace(separator + 1, arguments.end());
    for (const std::string& word : left) {
      if (word == "-dlog" || word.starts_with("-d="))
        throw UsageError("-d takes no value (write --dedup=log)");
    }
    OptionTable::Parsed parsed = table_.parse(left);
    if (parsed.asks_for_help) return Answer{table_.help()};
    if (options_.version) return Answer{"podrun " PODRUN_VERSION "\n"};
    extras_ = std::move(parsed.extras);
    options_.arguments_to_repeat = to_repeat(left);
    options_.arguments_to_repeat.insert(options_.arguments_to_repeat.end(), separator, arguments.end());
    take_task();
    check_extras(left);
    check_choice_of_hosts();
    const Options typed = options_;
    const AppliedConfig applied = apply_config(table_, options_, probe);
    if (options_.task == Task::check) leave_out_commands(typed);
    check_combinations();
    if (options_.task == Task::config) return Answer{describe_config(table_, applied)};
    return std::move(options_);
  }

  std::string help() const { return table_.help(); }

 private:
  /// In `[OPTIONS] ssh [OPTIONS] RANK [ARG...]` how many words there are before ARG; else all are.
  std::size_t end_of_ssh_rank(const std::vector<std::string>& words) const {
    bool is_ssh = false;
    for (std::size_t i = 0; i < words.size() && words[i] != "--";) {
      if (words[i].starts_with('-')) {
        i += table_.words_of(words[i]);
      } else if (is_ssh) {
        return i + 1;
      } else if (words[i++] == "ssh") {
        is_ssh = true;
      } else {
        break;
      }
    }
    return words.size();
  }

  /// The arguments, without the options that the command to run again sets itself.
  std::vector<std::string> to_repeat(const std::vector<std::string>& left) const {
    std::vector<std::string> kept;
    for (std::size_t i = 0, count = 0; i < left.size(); i += count) {
      count = std::min(table_.words_of(left[i]), left.size() - i);
      const std::string name = left[i].substr(0, left[i].find('='));
      constexpr std::array<std::string_view, 6> kDropped = {"--ranks",     "--worker", "--append",
                                                            "--no-append", "--force",  "--no-force"};
      if (std::find(kDropped.begin(), kDropped.end(), name) != kDropped.end()) continue;
      for (std::size_t word = i; word < i + count; ++word) kept.push_back(left[word]);
    }
    return kept;
  }

  /// The one word that stands before `--` and is no option's value.
  void take_task() {
    const auto* const task = std::find_if(kTasks.begin(), kTasks.end(), [this](const NamedTask& known) {
      return !extras_.empty() && extras_.front() == known.first;
    });
    if (task == kTasks.end()) return;
    options_.task = task->second;
    extras_.erase(extras_.begin());
    if (options_.task == Task::ssh) {
      if (extras_.empty()) throw UsageError("ssh: which host? (podrun ssh RANK; podrun hosts lists them)");
      options_.ssh_rank = extras_.front();
      extras_.erase(extras_.begin());
    }
    if (options_.words)
      throw UsageError(std::string(task->first) + ": it runs nothing (leave out \"--\" and what follows)");
    if (!extras_.empty()) {
      throw UsageError(
          fmt::format("{}: unexpected \"{}\" (see podrun --help)", task->first, extras_.front()));
    }
  }

  [[noreturn]] void refuse_option(const std::string& word) const {
    std::vector<std::string_view> names;
    for (const OptionEntry& option : table_.entries())
      names.insert(names.end(), option.keys.begin(), option.keys.end());
    std::optional<std::string> nearest;
    if (word.starts_with("--")) nearest = nearest_name(word.substr(2, word.find('=') - 2), names);
    throw UsageError(
        fmt::format("unknown option \"{}\" ({}see podrun --help; a command's own options stand behind --)",
                    word, nearest ? fmt::format("did you mean --{}? ", *nearest) : ""));
  }

  /// What CLI11 could not place: an unknown option, or words that should stand behind `--`.
  void check_extras(const std::vector<std::string>& left) {
    const std::vector<std::string>& extras = extras_;
    if (extras.empty()) return;
    if (extras.front().starts_with('-') && extras.front() != "-") refuse_option(extras.front());
    std::vector<std::string> suggestion{"podrun"};
    auto extra = extras.begin();
    for (const std::string& word : left) {
      if (extra != extras.end() && *extra == word) {
        ++extra;
      } else {
        suggestion.push_back(word);
      }
    }
    suggestion.emplace_back("--");
    suggestion.insert(suggestion.end(), extras.begin(), extras.end());
    if (options_.words) suggestion.insert(suggestion.end(), options_.words->begin(), options_.words->end());
    std::vector<std::string_view> names;
    for (const auto& [name, task] : kTasks) names.push_back(name);
    const auto nearest = nearest_name(extras.front(), names);
    throw UsageError(fmt::format(
        "\"{}\" is not a podrun command{}; to run it on every host: {}", extras.front(),
        nearest ? fmt::format(" (did you mean podrun {}?)", *nearest) : "", shell_quote(suggestion)));
  }

  /// `-N --label host`
  bool contradicts_no_label() {
    const auto given_last = [this](std::string_view key) {
      const std::vector<GivenValue>& given = table_.find(key)->given;
      return given.empty() ? "" : given.back().text;
    };
    return given_last("no-label") == "true" && table_.is_given("label") && given_last("label") != "none";
  }

  void check_choice_of_hosts() {
    for (const std::string_view other : {"hosts", "hostfile"}) {
      if (table_.is_given("pod") && table_.is_given(other))
        throw UsageError(fmt::format("--pod and --{} both choose the hosts (give one)", other));
    }
  }

  bool is_on_command_line(std::string_view key) {
    const std::vector<GivenValue>& given = table_.find(key)->given;
    return std::any_of(given.begin(), given.end(),
                       [](const GivenValue& value) { return value.where == "command line"; });
  }

  void refuse_typed(std::string_view key, std::string_view task) {
    if (is_on_command_line(key))
      throw UsageError(fmt::format("{}: --{} has no meaning here (leave it out)", task, key));
  }

  /// ssh is told what the command line says of the way in; the rest is for commands.
  void check_options_of_ssh() {
    if (options_.task != Task::ssh) return;
    for (const char* key : kWhatRuns) refuse_typed(key, "ssh");
    for (const char* key : kStartAndEnd) refuse_typed(key, "ssh");
    for (const char* key : kOutput) refuse_typed(key, "ssh");
    if (!is_on_command_line("connect-timeout")) return;
    std::vector<std::string>& keywords = options_.ssh.keywords;  // of two the first counts
    keywords.insert(keywords.begin(),
                    fmt::format("ConnectTimeout={}", options_.limits.connect_timeout.count()));
  }

  /// What a configuration says of commands may be missing where there is none to run.
  void leave_out_commands(const Options& typed) {
    options_.configured_environment.clear();
    options_.directory = typed.directory;
    options_.same_directory = typed.same_directory;
    options_.limits.timeout = typed.limits.timeout;
  }

  /// Options of podrun check alone, and those that have no meaning with it.
  void check_options_of_check() {
    const bool checks = options_.task == Task::check;
    for (const std::string_view key : {"wait", "dir", "python"}) {
      if (!checks && is_on_command_line(key))
        throw UsageError(fmt::format("--{0}: it belongs to podrun check (podrun check --{0} ...)", key));
    }
    for (const std::string_view key : {"script", "stdin", "clean-up", "serial", "fail-fast", "dedup", "rank0",
                                       "gather", "outdir", "append"}) {
      if (checks) refuse_typed(key, "check");
    }
  }

  /// --force and --append
  void check_earlier_output() {
    const bool has_outdir =
        !options_.outdir.empty() && (options_.task == Task::run || options_.task == Task::config);
    if (options_.force && !options_.save && !has_outdir)
      throw UsageError("--force: it belongs to --outdir, or to podrun hosts --save (leave it out)");
    if (!is_on_command_line("append")) return;
    if (options_.append && !has_outdir)
      throw UsageError("--append: it belongs to --outdir (podrun --outdir DIR --append -- COMMAND)");
    if (options_.append && options_.force)
      throw UsageError("--append and --force contradict each other (give one)");
  }

  void check_combinations() {
    check_options_of_check();
    check_options_of_ssh();
    if (options_.forget_keys && options_.task != Task::hosts)
      throw UsageError("--forget-keys: it belongs to podrun hosts (podrun hosts --forget-keys)");
    if (options_.save && options_.task != Task::hosts)
      throw UsageError("--save: it belongs to podrun hosts (podrun hosts --save)");
    check_earlier_output();
    if (options_.save && options_.forget_keys)
      throw UsageError("--save and --forget-keys are two tasks (give one)");
    if (options_.same_directory && options_.directory)
      throw UsageError("--cwd and --chdir both name a directory (give one)");
    if (contradicts_no_label()) throw UsageError("-N and --label contradict each other (give one)");
    if (options_.feed_input && options_.limits.serial != 0) {
      throw UsageError(
          "--stdin and --serial exclude each other (standard input is read once, for all hosts together)");
    }
    options_.connect_timeout_given = table_.is_given("connect-timeout");
    options_.retries_given = table_.is_given("retries");
  }

  Options options_;
  OptionTable table_{kUsage, kFooter};
  std::vector<std::string> extras_;
};

}  // namespace

std::variant<Options, Answer> parse_options(const std::vector<std::string>& arguments, const Probe& probe) {
  return CommandLine().parse(arguments, probe);
}

std::string help_text() { return CommandLine().help(); }

}  // namespace podrun
