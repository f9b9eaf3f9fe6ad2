// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/base/text.hpp"
#include "podrun/ssh/config/algorithms.hpp"
#include "podrun/ssh/config/ssh_config_statement.hpp"
#include "podrun/ssh/config/ssh_config_tokens.hpp"

namespace podrun::ssh {

/// The value of a keyword of ssh_config(5); errors in it throw UsageError.
class ConfigValue {
 public:
  /// `tokens`: null to only check the value without a host; then tokens stay as they are.
  ConfigValue(const ConfigStatement& statement, const ConfigTokens* tokens)
      : statement_(statement), tokens_(tokens) {}

  bool is_from_file() const { return statement_.source != ConfigSource::command_line; }
  bool is_none() const { return statement_.is_none(); }
  [[noreturn]] void refuse(std::string_view value, std::string_view expected) const;

  /// The value, which must be one word.
  const std::string& word() const;
  bool flag() const {
    return choice<bool>({{"yes", true}, {"true", true}, {"no", false}, {"false", false}}, "yes or no");
  }
  /// A number not below `least`; `expected` describes it.
  template <typename Number>
  Number number(Number least, std::string_view expected) const {
    const std::string& text = word();
    Number result = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc{} || rest != text.data() + text.size() || result < least) refuse(text, expected);
    return result;
  }
  /// `1h30m`, `90`: units s, m, h, d and w.
  std::chrono::seconds duration() const;
  std::string path() const { return tokens_ ? tokens_->path(word()) : word(); }
  /// Several paths; `none` alone means no path.
  std::vector<std::string> paths() const { return each_path(&ConfigTokens::path); }
  /// The same, but only ~ is expanded.
  std::vector<std::string> home_paths() const { return each_path(&ConfigTokens::home_path); }
  /// A path, `none`, or the name of a variable; empty: no agent.
  std::string agent_socket() const;
  std::string algorithms(AlgorithmKind kind) const;
  /// Shell text up to the end of the line; empty for `none`.
  std::string command() const;
  /// Comma-separated jump hosts; empty for `none`.
  std::string jump_hosts() const;
  template <typename Choice>
  Choice choice(std::initializer_list<std::pair<std::string_view, Choice>> choices,
                std::string_view expected) const {
    const std::string text = lower_case(word());
    for (const auto& [name, choice] : choices) {
      if (text == name) return choice;
    }
    refuse(word(), expected);
  }

 private:
  std::vector<std::string> each_path(std::string (ConfigTokens::*fill_in)(std::string_view) const) const;
  std::string text_after_equals() const;

  const ConfigStatement& statement_;
  const ConfigTokens* tokens_;
};

}  // namespace podrun::ssh
