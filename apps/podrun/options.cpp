// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "podrun/base/duration.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"

#include "option_values.hpp"

namespace podrun {
namespace {

constexpr std::string_view kUsage =
    "Usage: podrun [OPTIONS] -- COMMAND [ARG...]     run a command on every host, stream what it prints\n"
    "       podrun [OPTIONS] -s SCRIPT [-- ARG...]   send a local script, run it on every host\n"
    "       echo 'text' | podrun [OPTIONS]           shell text from standard input\n"
    "       podrun hosts [OPTIONS]                   which hosts, and where they were found\n";
constexpr std::string_view kFooter =
    "Several words after -- run as exactly those words; one word is shell text, as with ssh.\n"
    "Durations: 10, 10s, 5m, 2h. Every option without a value has its --no-.\n"
    "Exit status: the largest of the hosts': 0, the command's, 124 timed out, 128+N killed by signal N,\n"
    "255 unreachable or lost; 2 wrong usage; 130 and 143 interrupted, 141 the reader has left.";

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(33); }
  std::string make_usage(const CLI::App*, std::string) const override { return std::string(kUsage); }
  /// `-i,--include-local`: the footer tells of every --no-. `-d,--dedup[=log]`: the value that is no default.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    const std::string names = CLI::Formatter::make_option_name(option, positional);
    if (option->check_lname("dedup")) return "-d,--dedup[=log]";
    return names.substr(0, names.find(",--no-"));
  }
  std::string make_group(std::string group, bool positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, positional);
    return text;
  }
};

/// A value that is checked here, so that its error is ours: `--name: bad … "value" (expected …)`.
template <typename Set>
CLI::callback_t checked(const std::string& name, Set set) {
  return [name, set](const CLI::results_t& values) {
    for (const std::string& value : values) {
      try {
        set(value);
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("{}: {}", name, error.what()));
      }
    }
    return true;
  };
}

/// Binds every option of the command line to one Options.
class CommandLine {
 public:
  CommandLine() {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.footer(std::string(kFooter));
    app_.set_help_flag();
    app_.allow_extras();
    add_hosts();
    add_ssh();
    add_what_runs();
    add_start_and_end();
    add_output();
    app_.set_help_flag("-h,--help", "Print this help")->group("Other");
    app_.add_flag("-V,--version", version_, "Print the version")->group("Other");
  }

  std::variant<Options, Answer> parse(const std::vector<std::string>& arguments) {
    const auto separator = std::find(arguments.begin(), arguments.end(), "--");
    std::vector<std::string> left(arguments.begin(), separator);
    options_.arguments = arguments;
    if (separator != arguments.end()) options_.words.emplace(separator + 1, arguments.end());
    for (const std::string& word : left) {
      if (word == "-dlog" || word.starts_with("-d="))
        throw UsageError("-d takes no value (write --dedup=log)");
    }
    std::reverse(left.begin(), left.end());  // as CLI11 wants it
    try {
      app_.parse(left);
    } catch (const CLI::CallForHelp&) {
      return Answer{app_.help()};
    } catch (const CLI::ArgumentMismatch& error) {
      throw UsageError(missing_value(error.what()));
    } catch (const CLI::ParseError& error) {
      throw UsageError(fmt::format("{} (see podrun --help)", error.what()));
    }
    if (version_) return Answer{"podrun " PODRUN_VERSION "\n"};
    options_.arguments_without_ranks = without_ranks({arguments.begin(), separator});
    options_.arguments_without_ranks.insert(options_.arguments_without_ranks.end(), separator,
                                            arguments.end());
    take_task();
    check_extras(std::vector<std::string>(arguments.begin(), separator));
    check_combinations();
    return std::move(options_);
  }

  std::string help() const { return app_.help(); }

 private:
  /// CLI11 says `--hosts: 1 required LIST missing`.
  std::string missing_value(const std::string& what) const {
    const CLI::Option* option = app_.get_option_no_throw(what.substr(0, what.find(':')));
    if (!option) return what + " (see podrun --help)";
    return fmt::format("{}: its {} is missing (see podrun --help)", option->get_name(false, true),
                       option->get_type_name());
  }

  /// How many words this one begins: 2 where its option takes the next as its value.
  std::size_t words_of(const std::string& word) const {
    const auto takes_value = [this](const std::string& name) {
      const CLI::Option* option = app_.get_option_no_throw(name);
      return option && option->get_expected_min() > 0;
    };
    if (word.starts_with("--")) return word.find('=') == std::string::npos && takes_value(word) ? 2 : 1;
    if (!word.starts_with('-')) return 1;
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (takes_value({'-', word[i]})) return i + 1 == word.size() ? 2 : 1;
    }
    return 1;
  }

  std::vector<std::string> without_ranks(const std::vector<std::string>& left) const {
    std::vector<std::string> kept;
    for (std::size_t i = 0, count = 0; i < left.size(); i += count) {
      count = std::min(words_of(left[i]), left.size() - i);
      const std::string name = left[i].substr(0, left[i].find('='));
      if (name == "--ranks" || name == "--worker") continue;
      for (std::size_t word = i; word < i + count; ++word) kept.push_back(left[word]);
    }
    return kept;
  }

  void value(const std::string& group, const std::string& names, const std::string& type,
             const std::string& description, std::function<void(const std::string&)> set) {
    const std::string longest = names.substr(names.find("--") == std::string::npos ? 0 : names.find("--"));
    app_.add_option(names, checked(longest.substr(0, longest.find(',')), std::move(set)), description)
        ->group(group)
        ->type_name(type)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  /// `names`: short and long ones; the first long one gets its --no- form.
  void flag(const std::string& group, const std::string& names, const std::string& description,
            bool& target) {
    const std::string longest = names.substr(names.find("--") + 2);
    app_.add_flag(fmt::format("{},!--no-{}", names, longest.substr(0, longest.find(','))), target,
                  description)
        ->group(group);
  }

  void add_hosts() {
    const std::string group = "Which hosts (else ~/podips.txt)";
    value(group, "-H,--hosts", "LIST", "a,b · tpu-[0-15,20] · user@host:port · local[0-3] · ^FILE",
          [this](const std::string& text) { options_.hosts.lists.push_back(text); });
    value(group, "--hostfile,--machinefile", "FILE", "Hosts from a file, one a line",
          [this](const std::string& text) {
            if (options_.hosts.hostfile) throw UsageError("given twice (one file only)");
            options_.hosts.hostfile = text;
          });
    value(group, "-x,--exclude-hosts", "LIST", "Without these",
          [this](const std::string& text) { options_.hosts.exclude.push_back(text); });
    value(group, "--ranks,--worker", "RANKS", "Only these, by number: 0,3-7 or all",
          [this](const std::string& text) { options_.hosts.ranks = text; });
    flag(group, "-i,--include-local", "This machine takes part", include_local_);
    flag(group, "--forget-keys", "podrun hosts: drop their stored host keys", options_.forget_keys);
    flag(group, "--allow-repeats", "A host may be given twice", allow_repeats_);
    value(group, "--via", "WORDS", "The way in, ending in a shell there: 'ssh {host}'",
          [this](const std::string& text) {
            if (text.empty()) throw UsageError("no words (write how to reach a host, as in 'ssh {host}')");
            options_.via = text;
          });
  }

  void add_ssh() {
    const std::string group = "SSH";
    value(group, "-l,--user", "USER", "Log in as (who you are here)", [this](const std::string& text) {
      if (text.empty()) throw UsageError("an empty name (write who you are on the hosts)");
      options_.ssh.user = text;
    });
    value(group, "--port", "PORT", "Of hosts that are listed without one (22)",
          [this](const std::string& text) { options_.ssh.port = parse_port(text); });
    value(group, "--identity", "FILE", "A private key (the agent's, and those in ~/.ssh)",
          [this](const std::string& text) { options_.ssh.identities.push_back(text); });
    value(group, "-o", "KEY=VALUE", "As for ssh: StrictHostKeyChecking=yes, BindAddress=…",
          [this](const std::string& text) { options_.ssh.keywords.push_back(text); });
  }

  void add_what_runs() {
    const std::string group = "What runs";
    value(group, "-s,--script", "FILE", "A local script; its #! line decides, else /bin/sh",
          [this](const std::string& text) { options_.script = text; });
    value(group, "-e,--env", "NAME[=VALUE]", "A variable of the command; no value: that of here",
          [this](const std::string& text) { options_.environment.push_back(text); });
    value(group, "--env-file", "FILE", "Variables from NAME=VALUE lines",
          [this](const std::string& text) { options_.environment_files.push_back(text); });
    flag(group, "-w,--cwd", "In the same directory as here", options_.same_directory);
    value(group, "--chdir", "DIR", "In this directory", [this](const std::string& text) {
      if (text.empty()) throw UsageError("an empty name (write a directory of the hosts)");
      options_.directory = text;
    });
    flag(group, "-c,--clean-up", "First remove libtpu locks and old logs, if the TPU is idle",
         options_.clean_up);
    flag(group, "--login", "Through a login shell", options_.login);
    flag(group, "--sudo", "As root, through sudo -n", options_.sudo);
    flag(group, "-I,--stdin", "Copy standard input to every host", options_.feed_input);
  }

  void add_start_and_end() {
    const std::string group = "Start, failure, end";
    Limits& limits = options_.limits;
    flag(group, "--skip-unreachable", "Run on those that are reached (default: all or none)",
         skip_unreachable_);
    value(group, "-f,--fanout", "N", "Connect to at most N hosts at a time (128)",
          [&](const std::string& text) { limits.fanout = parse_count(text); });
    value(group, "--serial", "N", "N hosts at a time, stop at the first batch that fails",
          [&](const std::string& text) { limits.serial = parse_count(text); });
    value(group, "-t,--connect-timeout", "TIME", "For a host to become ready (10s), at each attempt",
          [&](const std::string& text) {
            limits.connect_timeout = parse_positive_duration(text);
            options_.connect_timeout_given = true;
          });
    value(group, "--retries", "N", "Attempts more, where what is wrong may pass (2)",
          [&](const std::string& text) {
            limits.retries = parse_count(text, 0);
            options_.retries_given = true;
          });
    value(group, "-u,--timeout", "TIME", "End a command that runs longer (no limit)",
          [&](const std::string& text) { limits.timeout = parse_positive_duration(text); });
    flag(group, "-k,--fail-fast", "The first failure ends the others", fail_fast_);
    value(group, "--grace", "TIME", "Between TERM and KILL (10s)",
          [&](const std::string& text) { limits.grace = parse_duration(text); });
    value(group, "--orphan-timeout", "TIME", "A host that hears nothing for so long ends its command (2m)",
          [this](const std::string& text) { options_.orphan_timeout = parse_positive_duration(text); });
  }

  void add_output() {
    const std::string group = "Output";
    value(group, "--label", "WHAT", "Before each line: rank (default), host, both or none",
          [this](const std::string& text) {
            label_ = parse_choice<Label>(
                text,
                {{"rank", Label::rank}, {"host", Label::host}, {"both", Label::both}, {"none", Label::none}});
          });
    app_.add_flag("-N,--no-label", no_label_, "No label")->group(group);
    value(group, "--progress", "WHEN", "The status line: auto (default: on a terminal), always or never",
          [this](const std::string& text) {
            options_.progress = parse_choice<Progress>(
                text,
                {{"auto", Progress::automatic}, {"always", Progress::always}, {"never", Progress::never}});
          });
    value(group, "--color", "WHEN", "auto (default), always or never", [this](const std::string& text) {
      options_.color = parse_choice<ColorMode>(
          text, {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}});
    });
    app_.add_flag("-d{bytes},--dedup{bytes},!--no-dedup", dedup_,
                  "Once what many hosts print, live; log: but for its timestamps")
        ->group(group);
    value(group, "--window", "TIME", "-d: how long a line waits for other hosts (500ms)",
          [this](const std::string& text) { options_.dedup_limits.window = parse_milliseconds(text); });
    value(group, "--late", "TIME", "-d: how late a host is only counted (10s)",
          [this](const std::string& text) { options_.dedup_limits.late = parse_milliseconds(text); });
    flag(group, "-0,--rank0", "Only the first host's output; of failures the last lines", options_.rank0);
    flag(group, "-b,--gather", "At the end, hosts with equal output together", options_.gather);
    flag(group, "--json", "One JSON object a line, for programs (docs/json.md)", options_.json);
    value(group, "--outdir", "DIR", "Raw output too, in DIR/RANK-HOST.out and .err",
          [this](const std::string& text) {
            if (text.empty()) throw UsageError("an empty name (write a directory)");
            options_.outdir = text;
          });
    app_.add_flag("--escape", escape_, "Show control bytes of the output as \\x1b")->group(group);
    app_.add_flag("-v,--verbose", options_.verbosity, "Say what is being done; twice: the protocol too")
        ->group(group);
    flag(group, "--dry-run", "Print what would run where", options_.dry_run);
  }

  /// The one word that stands before `--` and is no option's value.
  void take_task() {
    static const std::map<std::string, Task> kTasks = {{"hosts", Task::hosts}};
    extras_ = app_.remaining();
    const auto task = extras_.empty() ? kTasks.end() : kTasks.find(extras_.front());
    if (task == kTasks.end()) return;
    options_.task = task->second;
    extras_.erase(extras_.begin());
    if (options_.words)
      throw UsageError(task->first + ": it runs nothing (leave out \"--\" and what follows)");
    if (!extras_.empty()) {
      throw UsageError(
          fmt::format("{}: unexpected \"{}\" (see podrun --help)", task->first, extras_.front()));
    }
  }

  /// What CLI11 could not place: an unknown option, or words that should stand behind `--`.
  void check_extras(const std::vector<std::string>& left) {
    const std::vector<std::string>& extras = extras_;
    if (extras.empty()) return;
    if (extras.front().starts_with('-') && extras.front() != "-") {
      throw UsageError(
          fmt::format("unknown option \"{}\" (see podrun --help; a command's own options stand behind --)",
                      extras.front()));
    }
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
    throw UsageError(fmt::format("\"{}\" is not a podrun command; to run it on every host: {}",
                                 extras.front(), shell_quote(suggestion)));
  }

  void check_combinations() {
    if (options_.forget_keys && options_.task != Task::hosts)
      throw UsageError("--forget-keys: it belongs to podrun hosts (podrun hosts --forget-keys)");
    if (options_.same_directory && options_.directory)
      throw UsageError("--cwd and --chdir both name a directory (give one)");
    if (no_label_ && label_.value_or(Label::none) != Label::none)
      throw UsageError("-N and --label contradict each other (give one)");
    if (options_.feed_input && options_.limits.serial != 0) {
      throw UsageError(
          "--stdin and --serial exclude each other (standard input is read once, for all hosts together)");
    }
    if (!dedup_.empty() && dedup_ != "false") {
      try {
        options_.dedup = parse_choice<Same>(dedup_, {{"bytes", Same::bytes}, {"log", Same::log_line}});
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("--dedup: {}", error.what()));
      }
    }
    if (escape_) options_.controls = Controls::escape;
    options_.label = no_label_ ? Label::none : label_.value_or(Label::rank);
    options_.hosts.include_local = include_local_ ? IncludeLocal::yes : IncludeLocal::no;
    options_.hosts.repeats = allow_repeats_ ? Repeats::allow : Repeats::refuse;
    if (skip_unreachable_) options_.limits.on_unreachable = OnUnreachable::skip;
    if (fail_fast_) options_.limits.on_failure = OnFailure::end_others;
  }

  CLI::App app_;
  std::vector<std::string> extras_;
  Options options_;
  std::optional<Label> label_;
  bool version_ = false;
  bool include_local_ = false;
  bool allow_repeats_ = false;
  bool skip_unreachable_ = false;
  bool fail_fast_ = false;
  bool no_label_ = false;
  std::string dedup_;  ///< empty: not given
  bool escape_ = false;
};

}  // namespace

std::variant<Options, Answer> parse_options(const std::vector<std::string>& arguments) {
  return CommandLine().parse(arguments);
}

std::string help_text() { return CommandLine().help(); }

}  // namespace podrun
