// SPDX-License-Identifier: Apache-2.0
// Selects the statements of ssh_config(5) that apply to one host: the first of each keyword.
#include "podrun/ssh/config/ssh_config_selection.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config/pattern.hpp"

namespace podrun::ssh {
ConfigSelection::ConfigSelection(const ConfigWorld& world, const Hooks& hooks, std::string name)
    : world_(world), hooks_(hooks), name_(std::move(name)) {}

void ConfigSelection::add(const ConfigStatement& statement) {
  if (!statement.keyword) {
    check_unknown(statement);
  } else if (counts(statement)) {
    taken_.push_back(&statement);
  }
}

void ConfigSelection::add(const std::vector<ConfigStatement>& statements) {
  for (const ConfigStatement& statement : statements) add(statement);
}

void ConfigSelection::add(const std::vector<std::shared_ptr<const ConfigFile>>& files) {
  for (const auto& file : files) walk(*file, Active::yes);
  final_host_name_ = lower_case(host_name());
  if (!wants_final_pass_) return;
  is_final_pass_ = true;
  for (const auto& file : files) walk(*file, Active::yes);
}

TokenHost ConfigSelection::tokens() const {
  static const std::size_t kAlias = find_keyword("HostKeyAlias")->id;
  TokenHost host = tokens_so_far();
  host.host_key_name = first_[kAlias] ? lower_case(host.host_key_name) : name_;
  return host;
}

const std::string* ConfigSelection::value(std::size_t keyword) const {
  return first_[keyword] ? &first_[keyword]->line.arguments.front() : nullptr;
}

std::string ConfigSelection::host_name() const {
  static const std::size_t kHostName = find_keyword("HostName")->id;
  if (!final_host_name_.empty()) return final_host_name_;
  const std::string* const text = value(kHostName);
  if (!text) return name_;
  try {
    return ConfigTokens(world_, {.name = name_, .host_name = name_}).text(*text, kHostNameTokens);
  } catch (const UsageError& error) {
    throw PlacedError(first_[kHostName]->where, error);
  }
}

TokenHost ConfigSelection::tokens_so_far() const {
  static const std::size_t kUser = find_keyword("User")->id;
  static const std::size_t kPort = find_keyword("Port")->id;
  static const std::size_t kAlias = find_keyword("HostKeyAlias")->id;
  TokenHost host{.name = name_, .host_name = host_name(), .port = hosts::kSshPort};
  const std::string* const alias = value(kAlias);
  host.host_key_name = alias ? *alias : host.host_name;
  const std::string* const user = value(kUser);
  host.user = user ? *user : world_.user;
  if (const std::string* const port = value(kPort))
    std::from_chars(port->data(), port->data() + port->size(), host.port);
  return host;
}

void ConfigSelection::walk(const ConfigFile& file, Active outer) {
  for (const ConfigBlock& block : file.blocks) {
    const Active active = state(block, outer);
    if (active != Active::yes && !block.concerns_all) continue;
    for (const auto& item : block.items) {
      if (const auto* include = std::get_if<ConfigInclude>(&item)) {
        for (const auto& included : include->files)
          walk(*included, active == Active::yes ? Active::yes : Active::never);
      } else if (const auto& statement = std::get<ConfigStatement>(item); active == Active::yes) {
        add(statement);
      } else if (!statement.keyword) {
        check_unknown(statement);
      }
    }
  }
}

ConfigSelection::Active ConfigSelection::state(const ConfigBlock& block, Active outer) {
  const auto* const match = std::get_if<MatchCriteria>(&block.condition);
  if (match && asks_for_final_pass(match->criteria)) wants_final_pass_ = true;
  if (outer == Active::never || std::holds_alternative<std::monostate>(block.condition)) return outer;
  if (match) return holds(*match) ? Active::yes : Active::no;
  const std::string& name = is_final_pass_ ? final_host_name_ : name_;
  return matches(std::get<HostPatterns>(block.condition), name) ? Active::yes : Active::no;
}

bool ConfigSelection::holds(const MatchCriteria& match) const {
  const TokenHost host = tokens_so_far();
  try {
    return matches(match.criteria, {.host = host.host_name,
                                    .original_host = name_,
                                    .user = host.user,
                                    .local_user = world_.user,
                                    .is_final_pass = is_final_pass_,
                                    .exec = [&](const std::string& command) {
                                      const ConfigTokens tokens(world_, host);
                                      return hooks_.exec(tokens.command(command, kMostTokens));
                                    }});
  } catch (const UsageError& error) {
    throw PlacedError(match.where, error);
  }
}

bool ConfigSelection::counts(const ConfigStatement& statement) {
  const KnownKeyword& keyword = *statement.keyword;
  const Repeat repeat = keyword.setting ? keyword.setting->repeat : Repeat::first_counts;
  if (repeat == Repeat::adds_up) return !is_there(statement);
  if (first_[keyword.id] || (repeat == Repeat::first_but_none_counts && statement.is_none())) return false;
  if (keyword.setting && !keyword.setting->rival.empty() && !statement.is_none()) {
    const std::size_t rival = find_keyword(keyword.setting->rival)->id;
    if (first_[rival]) return false;
    first_[rival] = &statement;
  }
  first_[keyword.id] = &statement;
  if (keyword.setting || keyword.unsupported) return true;
  hooks_.ignored(statement);
  return false;
}

/// Whether an equal statement was already taken from the same place (the system's file or not), as in ssh.
bool ConfigSelection::is_there(const ConfigStatement& statement) const {
  const auto is_system = [](const ConfigStatement& other) {
    return other.source == ConfigSource::system_file;
  };
  return std::any_of(taken_.begin(), taken_.end(), [&](const ConfigStatement* other) {
    return other->keyword == statement.keyword && other->line.arguments == statement.line.arguments &&
           is_system(*other) == is_system(statement);
  });
}

void ConfigSelection::check_unknown(const ConfigStatement& statement) const {
  static const std::size_t kIgnoreUnknown = find_keyword("IgnoreUnknown")->id;
  const std::string* const ignored = value(kIgnoreUnknown);
  if (ignored && matches_pattern_list(lower_case(statement.line.keyword), lower_case(*ignored))) return;
  const auto nearest = nearest_keyword(statement.line.keyword);
  const UsageError error(
      fmt::format("unknown keyword \"{}\" ({})", statement.line.keyword,
                  nearest ? fmt::format("did you mean {}?", *nearest) : "ssh_config(5) lists them"));
  throw PlacedError(statement.where, error);
}

}  // namespace podrun::ssh
