// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

// The answers to what users of ssh, pdsh, clush, parallel-ssh, gcloud and Ansible type by habit.
namespace podrun::cli {

/// A command line around its first word that is neither an option nor an option's value.
struct TypedWords {
  std::vector<std::string> options;  ///< the words before it
  std::vector<std::string> words;    ///< it, and every word after it
};

/// podrun's own form of another tool's option; none if `word` (`--zone`, `--command=uptime`) is no such
/// option. `all`: the words before `--`.
std::optional<std::string> answer_to_option(const std::string& word, const std::vector<std::string>& all);

/// The message about a first word that was meant as the value of the option before it: `-w host[1-8]`, `-i
/// KEY`,
/// `-h FILE`; none if it was not.
std::optional<std::string> answer_to_value(const TypedWords& typed);

/// The message about a first word that is no podrun command: how to run it on every host, or what else it
/// was meant for. `nearest`: a podrun command with a similar name.
std::string answer_to_word(const TypedWords& typed, const std::optional<std::string>& nearest);

/// The message about words after the name of a job: `start train` before them, `python train.py`.
std::string answer_to_missing_dashes(const TypedWords& typed);

}  // namespace podrun::cli
