// SPDX-License-Identifier: Apache-2.0
// Selects the statements of ssh_config(5) that apply to one host: the first of each keyword.
#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "podrun/hosts/host_name.hpp"
#include "podrun/ssh/config/pattern.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

namespace podrun::ssh {

void ConfigSelection::add(const ConfigStatement& statement) {
  if (!statement.keyword) {
    check_unknown(statement);
  } else if (counts(statement)) {
    taken_.push_back(&statement);
  }
}

void ConfigSelection::add(const std::vector<std::shared_ptr<const ConfigFile>>& files) {
  for (const auto& file : files) walk(*file, Active::yes);
  final_host_name_ = lower_case(host_name());
  const std::string* const canonicalizes = value("CanonicalizeHostname");
  const std::string choice = canonicalizes ? lower_case(*canonicalizes) : "no";
  if (choice == "always" || choice == "yes" || choice == "true") {
    check_is_canonical(choice == "always");
    wants_final_pass_ = true;
  }
  if (!wants_final_pass_) return;
  is_final_pass_ = true;
  for (const auto& file : files) walk(*file, Active::yes);
}

/// Which of the domains has a name is known only to a name server, who would be asked here for each host.
void ConfigSelection::check_is_canonical(bool behind_proxies_too) const {
  const auto is_set = [this](std::string_view keyword) {
    const ConfigStatement* const first = first_[find_keyword(keyword)->id];
    return first && !first->is_none();
  };
  const std::string& name = final_host_name_;
  const std::string* const most_dots = value("CanonicalizeMaxDots");
  const bool is_behind_proxy = is_set("ProxyCommand") || is_set("ProxyJump");
  if ((is_behind_proxy && !behind_proxies_too) || hosts::is_address(name) || !is_set("CanonicalDomains") ||
      std::ranges::count(name, '.') > (most_dots ? std::stol(*most_dots) : 1))
    return;
  const UsageError error(
      fmt::format("CanonicalizeHostname: {0:?} is not a whole name, and podrun does not try the domains "
                  "(expected one such as {0}.{1}, or -o CanonicalizeHostname=no)",
                  name, *value("CanonicalDomains")));
  throw PlacedError(first_[find_keyword("CanonicalizeHostname")->id]->where, error);
}

TokenHost ConfigSelection::tokens() const {
  TokenHost host = tokens_so_far();
  host.host_key_name = value("HostKeyAlias") ? lower_case(host.host_key_name) : name_;
  return host;
}

const std::string* ConfigSelection::value(std::string_view keyword) const {
  const ConfigStatement* const first = first_[find_keyword(keyword)->id];
  return first ? &first->line.arguments.front() : nullptr;
}

std::string ConfigSelection::host_name() const {
  if (!final_host_name_.empty()) return final_host_name_;
  const std::string* const text = value("HostName");
  if (!text) return name_;
  try {
    return ConfigTokens(world_, {.name = name_, .host_name = name_}).text(*text, kHostNameTokens);
  } catch (const UsageError& error) {
    throw PlacedError(first_[find_keyword("HostName")->id]->where, error);
  }
}

TokenHost ConfigSelection::tokens_so_far() const {
  TokenHost host{.name = name_, .host_name = host_name(), .port = hosts::kSshPort};
  const std::string* const alias = value("HostKeyAlias");
  host.host_key_name = alias ? *alias : host.host_name;
  const ConfigStatement* const jump = first_[find_keyword("ProxyJump")->id];
  if (jump && jump->keyword->name == "ProxyJump" && !jump->is_none()) host.proxy_jump = jump->line.text;
  const std::string* const user = value("User");
  host.user = user ? *user : world_.user;
  if (const std::string* const port = value("Port"))
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
  const auto is_final = [](const MatchCriterion& criterion) {
    return criterion.kind == MatchKind::final_pass;
  };
  if (match && std::any_of(match->criteria.begin(), match->criteria.end(), is_final))
    wants_final_pass_ = true;
  if (outer == Active::never || std::holds_alternative<std::monostate>(block.condition)) return outer;
  if (match) return holds(*match) ? Active::yes : Active::no;
  const std::string& name = is_final_pass_ ? final_host_name_ : name_;
  return matches(std::get<HostPatterns>(block.condition), name) ? Active::yes : Active::no;
}

bool ConfigSelection::holds(const MatchCriteria& match) const {
  const TokenHost host = tokens_so_far();
  const std::string* const tag = value("Tag");
  try {
    return ssh::holds(match.criteria, {.world = world_,
                                       .host = host,
                                       .tag = tag ? *tag : "",
                                       .is_final_pass = is_final_pass_,
                                       .exec = hooks_.exec});
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
  const std::string* const ignored = value("IgnoreUnknown");
  if (ignored && matches_pattern_list(lower_case(statement.line.keyword), lower_case(*ignored))) return;
  const auto nearest = nearest_keyword(statement.line.keyword);
  const UsageError error(
      fmt::format("unknown keyword \"{}\" ({})", statement.line.keyword,
                  nearest ? fmt::format("did you mean {}?", *nearest) : "ssh_config(5) lists them"));
  throw PlacedError(statement.where, error);
}

}  // namespace podrun::ssh
