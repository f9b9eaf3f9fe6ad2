// SPDX-License-Identifier: Apache-2.0
// Parses values of ssh_config(5): numbers, times, switches, paths, lists.
#include "podrun/ssh/config/ssh_config_value.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/config/proxy_jump.hpp"

namespace podrun::ssh {
namespace {

/// The seconds in a unit; 0: not a unit.
std::int64_t seconds_in(char unit) {
  constexpr std::string_view kUnits = "smhdw";
  constexpr std::array<std::int64_t, 6> kSeconds = {1, 60, 3600, 86400, 604800, 0};
  return kSeconds.at(std::min(kUnits.find(lower_case({&unit, 1})), kUnits.size()));
}

std::optional<std::chrono::seconds> parse_time(std::string_view text) {
  std::int64_t total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::uint32_t count = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    const std::int64_t unit = text.empty() ? 1 : seconds_in(text.front());
    if (unit == 0) return std::nullopt;
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
    total += count * unit;
    if (total > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  }
  return std::chrono::seconds(total);
}

}  // namespace

void ConfigValue::refuse(std::string_view value, std::string_view expected) const {
  throw UsageError(fmt::format("bad {} \"{}\" (expected {})", statement_.keyword->name, value, expected));
}

const std::string& ConfigValue::word() const {
  const auto& words = statement_.line.arguments;
  if (words.size() > 1) refuse(words[1], "one value; put one with blanks in double quotes");
  return words.front();
}

std::chrono::seconds ConfigValue::duration() const {
  if (const auto time = parse_time(word())) return *time;
  refuse(word(), "seconds, or a time such as 10s, 5m or 1h30m");
}

std::vector<std::string> ConfigValue::each_path(std::string (ConfigTokens::*fill_in)(std::string_view)
                                                    const) const {
  std::vector<std::string> result;
  if (is_none()) return result;
  for (const std::string& word : statement_.line.arguments) {
    if (lower_case(word) == "none") refuse(word, "\"none\" alone");
    result.push_back(tokens_ ? (tokens_->*fill_in)(word) : word);
  }
  return result;
}

std::string ConfigValue::agent_socket() const {
  const std::string& text = word();
  if (is_none() || !tokens_) return "";
  if (text == "SSH_AUTH_SOCK") return tokens_->env(text).value_or("");
  if (text.starts_with('$') && !text.starts_with("${")) return tokens_->env(text.substr(1)).value_or("");
  return path();
}

std::string ConfigValue::algorithms(AlgorithmKind kind) const {
  const std::string& text = word();
  if (!tokens_) return "";  // not checked: libssh may lack the algorithms of a host that is not used
  if (auto list = configured_algorithms(kind, text)) return *std::move(list);
  if (kind == AlgorithmKind::host_key && text.find("-cert-v01@openssh.com") != std::string::npos)
    refuse(text, "keys too: podrun takes no certificates of hosts; to connect by ssh: --via 'ssh {host}'");
  refuse(text, "some that libssh has, such as " + std::string(our_algorithms(kind)));
}

std::string ConfigValue::text_after_equals() const {
  const std::string& text = statement_.line.text;
  return text.substr(std::min(text.find_first_not_of(" \t\r\n="), text.size()));
}

std::string ConfigValue::command() const {
  const std::string text = text_after_equals();
  if (lower_case(text) == "none" || !tokens_) return "";
  if (text == "-") refuse(text, "a command; standard input is not the host here");
  return tokens_->command(text, kProxyTokens);
}

std::string ConfigValue::jump_hosts() const {
  const std::string line = text_after_equals();
  std::string text(trim_space(std::string_view(line).substr(0, line.find('#'))));
  if (lower_case(text) == "none") return "";
  parse_proxy_jump(text);
  return text;
}

}  // namespace podrun::ssh
