// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/option_table.hpp"
#include "cli/options.hpp"

namespace podrun::cli {

// The headings of help.
inline constexpr std::string_view kHostsTopic = "Hosts (default: those that podrun hosts finds)";
inline constexpr std::string_view kSshTopic = "SSH";
inline constexpr std::string_view kCommandTopic = "Command";
inline constexpr std::string_view kLimitsTopic = "Start, failure, end";
inline constexpr std::string_view kRestartsTopic = "Restarts";
inline constexpr std::string_view kOutputTopic = "Output";
inline constexpr std::string_view kOtherTopic = "Other";

/// Adds every option that several commands take; each writes what it is given to `options`, which must
/// outlive the table.
void add_shared_options(OptionTable& table, Options& options);
/// The last of the table.
void add_other_options(OptionTable& table, Options& options);

/// Takes a value that must not be empty; `advice` says what it is.
std::function<void(const std::string&)> not_empty(std::string& target, const std::string& advice);

/// Adds rows under one heading. `names` ends with the type of the value, as in `--port PORT`; `more` has the
/// other properties of the row.
struct Rows {
  using Text = std::string_view;

  OptionTable& table;
  Text topic;

  OptionRow row(OptionSet set, Text names, std::string help, OptionRow more = {}) const {
    const std::size_t end = std::min(names.find(' '), names.size());
    more.topic = topic;
    more.set = set;
    more.names = names.substr(0, end);
    more.help = std::move(help);
    more.type = names.substr(std::min(end + 1, names.size()));
    return more;
  }
  void value(OptionSet set, Text names, std::string help, OptionTable::Set setter,
             const OptionRow& more = {}) const {
    table.value(row(set, names, std::move(help), more), std::move(setter));
  }
  void list(OptionSet set, Text names, std::string help, OptionTable::Set setter,
            const OptionRow& more = {}) const {
    table.list(row(set, names, std::move(help), more), std::move(setter));
  }
  void flag(OptionSet set, Text names, std::string help, std::function<void(bool)> setter,
            const OptionRow& more = {}) const {
    table.flag(row(set, names, std::move(help), more), std::move(setter));
  }
};

// Setters: into `target`, as it is or parsed; or one of two values.
inline auto into(bool& target) {
  return [&target](bool is_on) { target = is_on; };
}
inline auto into(std::vector<std::string>& target) {
  return [&target](const std::string& text) { target.push_back(text); };
}
template <typename Target, typename Parse>
auto into(Target& target, Parse parse) {
  return [&target, parse](const std::string& text) { target = parse(text); };
}
template <typename Target>
auto either(Target& target, Target on, Target off) {
  return [&target, on, off](bool is_on) { target = is_on ? on : off; };
}

}  // namespace podrun::cli
