// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/kept_state.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/remote/environment.hpp"

namespace podrun::shell {
namespace {

/// Each line has its own values of these. The sessions of sshd and logind differ after a lost connection.
bool is_kept(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOwn = {"_", "SHLVL", "PWD", "OLDPWD", "XDG_SESSION_ID"};
  constexpr std::array<std::string_view, 3> kPrefixes = {"PODRUN_", "podrun_", "SSH_"};
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return remote::is_variable_name(std::string(name)) &&
         std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end() &&
         std::none_of(kPrefixes.begin(), kPrefixes.end(), begins);
}

/// Shells set these themselves, and most let no one else do so. All that a line can do is to export them.
bool is_set_by_shells(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::optional<KeptState> parse_kept_state(std::string_view bytes) {
  constexpr std::string_view kEnd("\0end\0", 5);
  if (!bytes.ends_with(kEnd)) return std::nullopt;
  bytes.remove_suffix(kEnd.size());
  const std::vector<std::string_view> parts = split(bytes, '\0');
  if (parts.size() < 2 || !parts[0].starts_with('/')) return std::nullopt;
  KeptState state{
      .directory = std::string(parts[0]), .directory_before = std::string(parts[1]), .variables = {}};
  for (std::size_t i = 2; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos || !is_kept(parts[i].substr(0, equals))) continue;
    state.variables.insert_or_assign(std::string(parts[i].substr(0, equals)),
                                     std::string(parts[i].substr(equals + 1)));
  }
  return state;
}

std::string restore(const KeptState& fresh, const KeptState& now) {
  std::string text;
  for (const auto& [name, value] : fresh.variables) {
    if (!now.variables.contains(name)) text += fmt::format("unset {}; ", name);
  }
  for (const auto& [name, value] : now.variables) {
    const auto before = fresh.variables.find(name);
    if (before != fresh.variables.end() && before->second == value) continue;
    text += is_set_by_shells(name) ? fmt::format("export {}; ", name)
                                   : fmt::format("export {}={}; ", name, shell_quote(value));
  }
  // First where `cd -` goes: zsh keeps that place apart from OLDPWD.
  if (now.directory_before.starts_with('/'))
    text += fmt::format("CDPATH= cd -- {} 2>/dev/null; ", shell_quote(now.directory_before));
  const std::string gone = "podrun: no way into " + now.directory + ": this line runs in ";
  text += fmt::format("CDPATH= cd -- {} 2>/dev/null || echo {}\"$PWD\" >&2; ", shell_quote(now.directory),
                      shell_quote(gone));
  text += fmt::format("OLDPWD={}; ", shell_quote(now.directory_before));
  return text;
}

}  // namespace podrun::shell
