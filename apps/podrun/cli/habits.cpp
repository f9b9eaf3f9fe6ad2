// SPDX-License-Identifier: Apache-2.0
// Knows which options and words people bring from ssh, pdsh, clush, parallel-ssh, gcloud and Ansible,
// and names podrun's own form of each.
#include "cli/habits.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/file_system.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"

namespace podrun::cli {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kDescribe =
    "on a TPU VM podrun finds the hosts; elsewhere save them once: gcloud compute tpus tpu-vm describe NAME "
    "--zone ZONE --format json | podrun -H - hosts --save";

struct Habit {
  std::string_view word;
  std::string_view advice;
};

constexpr std::string_view kEveryHost = "podrun runs on every host (leave it out)";
constexpr std::string_view kPod = "a pod of config.yaml is chosen by --pod NAME";
constexpr std::string_view kFanout = "the number of hosts that connect at a time: --fanout N";

/// Options of other tools; their values do not matter. Those whose value is the command are below.
constexpr std::array kOptions = {
    Habit{"-a", kEveryHost},
    Habit{"--all", kEveryHost},
    Habit{"--zone", kDescribe},
    Habit{"--project", kDescribe},
    Habit{"-g", kPod},
    Habit{"--group", kPod},
    Habit{"--inventory", "a file of hosts is read by --hostfile FILE"},
    Habit{"--become", "as root: --sudo"},
    Habit{"--forks", kFanout},
    Habit{"--par", kFanout},
    Habit{"--inline", "output is printed live; at the end, once for hosts that agree: --gather"},
};

constexpr std::string_view kCopy =
    "to copy files to all hosts: podrun push SRC DEST; from them: podrun pull SRC DEST";

/// Commands of other tools that do something to the hosts or jobs as a whole.
constexpr std::array kCommands = {
    Habit{"cp", kCopy},
    Habit{"restart", "a command that starts again when it fails: podrun --restarts N -- COMMAND"},
    Habit{"scp", kCopy},
    Habit{"status", "the jobs and their state: podrun ps; the hosts: podrun check"},
    Habit{"tail", "to follow the output of a job: podrun logs -f NAME"},
};

std::string podrun_line(const Words& options, const Words& command) {
  std::string line = "podrun";
  for (const std::string& option : options) line += ' ' + shell_quote_option(option);
  return line + " -- " + shell_quote(command);
}

/// The value of an option in `--name value` or `--name=value`.
std::optional<std::string> value_of(std::string_view name, const Words& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view word = all[i];
    if (word == name && i + 1 < all.size()) return all[i + 1];
    if (name.starts_with("--") && word.starts_with(name) && word.substr(name.size()).starts_with('='))
      return std::string(word.substr(name.size() + 1));
  }
  return std::nullopt;
}

/// `podrun --worker=all --command=uptime`: the words without that option.
Words without_option(std::string_view name, const Words& all) {
  Words kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view word = all[i];
    if (word == name) {
      ++i;
    } else if (!(word.starts_with(name) && word.substr(name.size()).starts_with('='))) {
      kept.push_back(all[i]);
    }
  }
  return kept;
}

/// `all -m shell -a uptime`
std::optional<std::string> answer_to_ansible(const Words& all) {
  const auto module = value_of("-m", all);
  const auto arguments = value_of("-a", all);
  if (!module || !arguments) return std::nullopt;
  return fmt::format("-m {} -a is Ansible's; podrun runs shell text: {}", *module,
                     podrun_line({}, {*arguments}));
}

/// `tpu-[0-3]`, `a,b`, `tpu-3`, `10.0.0.5`
bool is_host_list(std::string_view word) {
  const std::size_t number = word.find_last_not_of(kDigits);
  const bool is_numbered = number != npos && number + 1 < word.size() && word[number] == '-' &&
                           word.find_first_not_of(kDigits) < number;
  return word.find_first_of("[,") != npos || is_numbered || hosts::is_address(word);
}

bool is_key(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  return is_file(word) && (name.ends_with(".pem") || name.starts_with("id_") || is_file(word + ".pub"));
}

}  // namespace

std::optional<std::string> answer_to_value(const TypedWords& typed) {
  if (typed.options.empty()) return std::nullopt;
  const std::string& option = typed.options.back();
  const std::string& word = typed.words.front();
  if (option == "-w" && is_host_list(word))
    return fmt::format("-w runs in the same directory as here; hosts are given by -H: -H {}",
                       shell_quote(word));
  if (option == "-i" && is_key(word))
    return fmt::format("-i includes this machine; a key is given by --identity {}", shell_quote(word));
  if ((option == "-d" || option == "--dedup") && (word == "log" || word == "numbers"))
    return fmt::format("{0} {1}: write --dedup={1}", option, word);
  if (option == "-h" && is_file(word))
    return fmt::format("-h prints help; a file of hosts is read by --hostfile {}", shell_quote(word));
  return std::nullopt;
}

std::optional<std::string> answer_to_option(const std::string& word, const Words& all) {
  const std::string_view name = std::string_view(word).substr(0, word.find('='));
  if (name == "-m" || name == "-a") {
    if (auto answer = answer_to_ansible(all)) return answer;
  }
  if (name == "--command") {
    const auto command = value_of(name, all);
    return fmt::format("--command: the command stands after --: {}",
                       podrun_line(without_option(name, all), {command.value_or("COMMAND")}));
  }
  const auto* const found = std::ranges::find(kOptions, name, &Habit::word);
  if (found == kOptions.end()) return std::nullopt;
  return fmt::format("{}: {}", name, found->advice);
}

std::string answer_to_word(const TypedWords& typed, const std::optional<std::string>& nearest) {
  const std::string& word = typed.words.front();
  if (auto answer = answer_to_value(typed)) return *answer;
  if (auto answer = answer_to_ansible(typed.words)) return *answer;
  Words rest(typed.words.begin() + 1, typed.words.end());
  if (word == "run") {
    if (!rest.empty() && rest.front() == "--") rest.erase(rest.begin());
    return fmt::format("podrun needs no \"{}\": {}", word,
                       podrun_line(typed.options, rest.empty() ? Words{"COMMAND"} : rest));
  }
  if (const auto* const foreign = std::ranges::find(kCommands, word, &Habit::word);
      foreign != kCommands.end())
    return fmt::format("\"{}\" is not a podrun command; {}; to run it on every host: {}", word,
                       foreign->advice, podrun_line(typed.options, typed.words));
  if (is_shell_builtin(word)) {
    return fmt::format("\"{}\" needs a shell, which one quoted text gets: {}", word,
                       podrun_line(typed.options, {join(typed.words, " ")}));
  }
  if (is_file(word)) {
    Words script = typed.options;
    script.insert(script.begin(), "podrun");
    script.insert(script.end(), {"-s", word});
    if (!rest.empty() && rest.front() != "--") script.emplace_back("--");
    script.insert(script.end(), rest.begin(), rest.end());
    return fmt::format("\"{}\" is a file here; to run it on every host as a script: {}", word,
                       shell_quote(script));
  }
  return fmt::format("\"{}\" is not a podrun command{}; to run it on every host: {}", word,
                     nearest ? fmt::format(" (did you mean podrun {}?)", *nearest) : "",
                     podrun_line(typed.options, typed.words));
}

std::string answer_to_missing_dashes(const TypedWords& typed) {
  return "the command stands after --: " + podrun_line(typed.options, typed.words);
}

}  // namespace podrun::cli
