// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/ssh/algorithms.hpp"
#include "podrun/ssh/config_statement.hpp"
#include "podrun/ssh/config_tokens.hpp"
#include "podrun/ssh/pattern.hpp"

namespace podrun {

/// What stands behind a keyword of ssh_config(5); what is wrong with it is thrown as a UsageError.
class ConfigValue {
 public:
  /// `tokens`: null where the value is only checked, for no host; then tokens stay as they are.
  ConfigValue(const ConfigStatement& statement, const ConfigTokens* tokens)
      : statement_(statement), tokens_(tokens) {}

  bool is_from_file() const { return statement_.source != ConfigSource::command_line; }
  bool is_none() const;
  [[noreturn]] void refuse(std::string_view value, std::string_view expected) const;

  /// The only word.
  const std::string& word() const;
  bool flag() const;
  /// At least `least`; `expected` says so.
  template <typename Number>
  Number number(Number least, std::string_view expected) const;
  /// `1h30m`, `90`: units s, m, h, d and w.
  std::chrono::seconds duration() const;
  std::string path() const;
  /// Several; `none` alone is no path.
  std::vector<std::string> paths() const;
  /// The same, where only ~ stands for something.
  std::vector<std::string> home_paths() const;
  /// A path, `none`, or the name of a variable; empty: no agent.
  std::string agent_socket() const;
  std::string algorithms(AlgorithmKind kind) const;
  /// Shell text up to the end of the line; empty for `none`.
  std::string command() const;
  /// Jump hosts between commas; empty for `none`.
  std::string jump_hosts() const;
  template <typename Choice>
  Choice choice(std::initializer_list<std::pair<std::string_view, Choice>> choices,
                std::string_view expected) const;

 private:
  std::vector<std::string> each_path(std::string (ConfigTokens::*fill_in)(std::string_view) const) const;
  std::string text_behind_equals() const;

  const ConfigStatement& statement_;
  const ConfigTokens* tokens_;
};

template <typename Number>
Number ConfigValue::number(Number least, std::string_view expected) const {
  const std::string& text = word();
  Number result = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error != std::errc{} || rest != text.data() + text.size() || result < least) refuse(text, expected);
  return result;
}

template <typename Choice>
Choice ConfigValue::choice(std::initializer_list<std::pair<std::string_view, Choice>> choices,
                           std::string_view expected) const {
  const std::string text = lower_case(word());
  for (const auto& [name, choice] : choices) {
    if (text == name) return choice;
  }
  refuse(word(), expected);
}

}  // namespace podrun
