// SPDX-License-Identifier: Apache-2.0
// Composes the text of a line, and reads the state that the line leaves. As in exit_line.cpp, output other
// than the report is neither copied nor delayed, since a report's lines begin with a character that output
// hardly ever ends in.
#include "podrun/shell/line_state.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/shell/scripts.hpp"
#include "podrun/supervisor/environment.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::shell {
namespace {

constexpr char kFirst = '~';
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kLongestPlain = 30'000;
constexpr std::size_t kMostReported = 256 * 1024;

/// Each line has its own values of these. The sessions of sshd and logind differ after a lost connection.
bool is_kept(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOwn = {"_", "SHLVL", "PWD", "OLDPWD", "XDG_SESSION_ID"};
  constexpr std::array<std::string_view, 3> kPrefixes = {"PODRUN_", "podrun_", "SSH_"};
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return supervisor::is_variable_name(std::string(name)) &&
         std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end() &&
         std::none_of(kPrefixes.begin(), kPrefixes.end(), begins);
}

/// Shells set these themselves, and most let no one else do so. All that a line can do is to export them.
bool is_set_by_shells(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Shells count in these, or let nobody set them.
bool is_special(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {"RANDOM", "SECONDS", "LINENO",     "OPTIND",
                                                      "status", "ARGC",    "pipestatus", "FUNCNAME"};
  return is_set_by_shells(name) || name.starts_with("BASH") || name.starts_with("ZSH") ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::vector<std::string> make_ids(std::size_t hosts) {
  std::vector<std::string> ids(hosts);
  for (std::string& id : ids) id = supervisor::random_id();
  return ids;
}

supervisor::Preparation need_tools() {
  constexpr std::string_view kText =
      "for podrun_tool in base64 env; do command -v $podrun_tool >/dev/null || { echo $podrun_tool; exit 1; "
      "}; done";
  return {link::Stage::supervision, link::Cause::program_missing, Chunk(std::string(kText))};
}

std::set<std::string> assigned_names(std::string_view line) {
  const auto is_part = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::set<std::string> names;
  for (std::size_t equals = line.find('='); equals != line.npos; equals = line.find('=', equals + 1)) {
    if (line.substr(equals + 1).starts_with('(')) continue;  // an array
    std::size_t end = equals;
    if (end > 0 && line[end - 1] == '+') --end;
    std::size_t begin = end;
    while (begin > 0 && is_part(line[begin - 1])) --begin;
    std::string name(line.substr(begin, end - begin));
    if (is_kept(name) && !is_special(name)) names.insert(std::move(name));
  }
  return names;
}

std::string line_text(std::string_view line, supervisor::ShellStart shell,
                      const std::set<std::string>& names) {
  std::string plain;
  for (const std::string& name : names)
    plain += fmt::format("[ \"${{{0}+x}}\" ] && [ ${{#{0}}} -lt {1} ] && export {0}; ", name, kLongestPlain);
  plain += names.empty() ? ":" : "\"$podrun_env\" -0";
  return fmt::format("podrun_typed={}; podrun_inside={}; podrun_plain={}; podrun_l={}; {}",
                     shell_quote_in_line(line), shell_quote_in_line(kInsideScript), shell_quote(plain),
                     shell == supervisor::ShellStart::login ? "-l" : "", kLineScript);
}

std::string host_text(std::string_view restored, std::string_view id) {
  return fmt::format("podrun_kept={}; podrun_id={}; ", shell_quote_in_line(restored), id);
}

std::optional<KeptState> parse_kept_state(std::string_view bytes) {
  constexpr std::string_view kEnd("\0end\0", 5);
  if (!bytes.ends_with(kEnd)) return std::nullopt;
  bytes.remove_suffix(kEnd.size());
  const std::vector<std::string_view> parts = split(bytes, '\0');
  if (parts.size() < 2 || !parts[0].starts_with('/')) return std::nullopt;
  KeptState state{
      .directory = std::string(parts[0]), .directory_before = std::string(parts[1]), .variables = {}};
  bool is_exported = true;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    is_exported = is_exported && parts[i] != "plain";
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos || !is_kept(parts[i].substr(0, equals))) continue;
    std::string name(parts[i].substr(0, equals));
    if (!is_exported && (is_special(name) || state.variables.contains(name))) continue;
    (is_exported ? state.variables : state.plain)
        .insert_or_assign(std::move(name), std::string(parts[i].substr(equals + 1)));
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
  for (const auto& [name, value] : now.plain) text += fmt::format("{}={}; ", name, shell_quote(value));
  // First where `cd -` goes: zsh keeps that place apart from OLDPWD.
  if (now.directory_before.starts_with('/'))
    text += fmt::format("CDPATH= cd -- {} 2>/dev/null; ", shell_quote(now.directory_before));
  const std::string gone = "podrun: no way into " + now.directory + ": this line runs in ";
  text += fmt::format("CDPATH= cd -- {} 2>/dev/null || echo {}\"$PWD\" >&2; ", shell_quote(now.directory),
                      shell_quote(gone));
  text += fmt::format("OLDPWD={}; ", shell_quote(now.directory_before));
  return text;
}

StateFilter::StateFilter(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) hosts_.push_back({.start = fmt::format("{}podrun1 {} ", kFirst, id)});
}

Chunk StateFilter::pass(std::size_t host, Chunk bytes) {
  Reading& reading = hosts_[host];
  if (reading.held.empty() && bytes.bytes().find(reading.start) == std::string_view::npos &&
      possible_start(reading, bytes.bytes()) == bytes.size())
    return bytes;
  std::string text = std::exchange(reading.held, {}).append(bytes.bytes());
  take_lines(reading, text);
  const std::size_t start = possible_start(reading, text);
  reading.held = text.substr(start);
  text.resize(start);
  return Chunk(std::move(text));
}

Chunk StateFilter::finish(std::size_t host) { return Chunk(std::exchange(hosts_[host].held, {})); }

std::optional<KeptState> StateFilter::state_of(std::size_t host) const {
  if (!hosts_[host].complete || hosts_[host].in_doubt) return std::nullopt;
  const std::optional<std::string> bytes = from_base64(hosts_[host].reported);
  return bytes ? parse_kept_state(*bytes) : std::nullopt;
}

void StateFilter::take_lines(Reading& reading, std::string& text) {
  const std::string& start = reading.start;
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) return;
    const std::string part = text.substr(at + start.size(), end - at - start.size());
    if (reading.complete) {
      reading.in_doubt = true;
      at = end + 1;
      continue;
    }
    text.erase(at, end + 1 - at);
    reading.complete = part == ".";
    if (!reading.complete && reading.reported.size() < kMostReported) reading.reported += part;
  }
}

/// The position from which the text may be the beginning of a report's line; else its size.
std::size_t StateFilter::possible_start(const Reading& reading, std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  std::size_t at = newline == std::string_view::npos ? 0 : newline + 1;
  at = std::max(at, text.size() - std::min(text.size(), kLongestLine));
  while ((at = text.find(kFirst, at)) != std::string_view::npos) {
    const std::string_view end = text.substr(at, reading.start.size());
    if (std::string_view(reading.start).starts_with(end)) return at;
    ++at;
  }
  return text.size();
}

}  // namespace podrun::shell
