// SPDX-License-Identifier: Apache-2.0
// Finds the settings that `ssh -G` would show for each host, from the files of ssh_config(5) and `-o`.
#include "podrun/ssh/config/ssh_config.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/ssh/config/pattern.hpp"
#include "podrun/ssh/config/ssh_config_value.hpp"

namespace podrun::ssh {
namespace {

ConfigStatement parse_option(const std::string& option) {
  try {
    if (std::any_of(option.begin(), option.end(), [](char c) { return is_control(c) && c != '\t'; }))
      throw UsageError(fmt::format("control character in {:?} (expected plain text)", option));
    ConfigLine line = parse_config_line(option);
    if (line.keyword.empty()) throw UsageError("no keyword (expected KEYWORD=VALUE)");
    ConfigStatement statement = parse_statement(std::move(line), ConfigSource::command_line);
    statement.where = "-o";
    return statement;
  } catch (const UsageError& error) {
    throw PlacedError("-o", error);
  }
}

/// A statement as if from a configuration file.
ConfigStatement statement_of(const std::string& keyword, const std::string& value, std::string where) {
  return {.line = {.keyword = keyword, .arguments = {value}, .text = value},
          .source = ConfigSource::command_line,
          .keyword = find_keyword(keyword),
          .where = std::move(where)};
}

void add_user_and_port(std::vector<ConfigStatement>& statements, const std::string& user, std::uint16_t port,
                       const std::string& where) {
  if (!user.empty()) statements.push_back(statement_of("User", user, where));
  if (port != 0) statements.push_back(statement_of("Port", std::to_string(port), where));
}

/// Whether the option applies to jump hosts too. A keyword without support does: its value makes it harmless,
/// or is an error before any jump host counts.
bool reaches_jump_hosts(const ConfigStatement& statement) {
  const KnownKeyword* const keyword = statement.keyword;
  if (!keyword) return false;
  return keyword->unsupported || (keyword->setting && keyword->setting->reach == Reach::jump_hosts_too);
}

void check_supported(const ConfigStatement& statement) {
  const UnsupportedKeyword& keyword = *statement.keyword->unsupported;
  const std::string value = lower_case(statement.line.arguments.front());
  if (!keyword.harmless.empty() && matches_pattern_list(value, keyword.harmless)) return;
  throw UsageError(fmt::format("\"{} {}\" is not supported ({})", keyword.name,
                               join(statement.line.arguments, " "), keyword.advice));
}

}  // namespace

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

SshConfig::SshConfig(ConfigWorld world, const SshCommandLine& command_line)
    : world_(std::move(world)),
      hooks_{[this](const std::string& command) { return exec(command); },
             [this](const ConfigStatement& statement) { ignore(statement); }},
      reader_(world_),
      config_file_(command_line.config_file) {
  for (const std::string& file : command_line.identities)
    options_.push_back(statement_of("IdentityFile", file, "--identity"));
  for (const std::string& option : command_line.options) options_.push_back(parse_option(option));
  add_user_and_port(others_, command_line.user, command_line.port, "the command line");
  settings_of_options();
  std::copy_if(options_.begin(), options_.end(), std::back_inserter(trust_options_), reaches_jump_hosts);
}

SshSettings SshConfig::settings_of_options() {
  ConfigSelection any_host(world_, hooks_, "host");
  any_host.add(options_);
  return apply(any_host);
}

const std::vector<std::shared_ptr<const ConfigFile>>& SshConfig::files() {
  if (std::exchange(files_are_read_, true) || lower_case(config_file_) == "none") return files_;
  if (!config_file_.empty()) {
    files_.push_back(reader_.read(config_file_, ConfigSource::user_file, FileTrust::unchecked));
    if (!files_.back())
      throw UsageError(fmt::format("-F: there is no file \"{}\" (expected an ssh_config)", config_file_));
    return files_;
  }
  files_ = {reader_.read(world_.home + "/.ssh/config", ConfigSource::user_file, FileTrust::checked),
            reader_.read("/etc/ssh/ssh_config", ConfigSource::system_file, FileTrust::unchecked)};
  std::erase(files_, nullptr);
  return files_;
}

SshSettings SshConfig::settings_with(const hosts::Host& host, const std::string& host_list,
                                     const std::vector<ConfigStatement>& options,
                                     const std::vector<ConfigStatement>& others) {
  std::vector<ConfigStatement> listed;
  add_user_and_port(listed, host.user, host.port, host_list);
  ConfigSelection selection(world_, hooks_, hosts::address_of(host));
  for (const auto* statements : {&options, &std::as_const(listed), &others}) selection.add(*statements);
  selection.add(files());
  return apply(selection);
}

SshSettings SshConfig::settings_for(const hosts::Host& host) {
  SshSettings settings = settings_with(host, "the list of hosts", options_, others_);
  strictest_check_ = std::max(strictest_check_, settings.host_key_check);
  return settings;
}

SshSettings SshConfig::settings_for_jump_host(const hosts::Host& host) {
  SshSettings settings = settings_with(host, "ProxyJump", trust_options_, {});
  const HostKeyCheck by_files = trust_options_.empty()
                                    ? settings.host_key_check
                                    : settings_with(host, "ProxyJump", {}, {}).host_key_check;
  settings.host_key_check = std::max({settings.host_key_check, by_files, strictest_check_});
  return settings;
}

SshSettings SshConfig::apply(const ConfigSelection& selection) const {
  SshSettings settings{.user = world_.user};
  settings.agent_socket = world_.env("SSH_AUTH_SOCK").value_or("");
  settings.user_known_hosts = {world_.home + "/.ssh/known_hosts", world_.home + "/.ssh/known_hosts2"};
  settings.global_known_hosts = {"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"};
  const ConfigTokens tokens(world_, selection.tokens());
  for (const ConfigStatement* statement : selection.statements()) {
    try {
      if (statement->keyword->unsupported) {
        check_supported(*statement);
      } else {
        statement->keyword->setting->apply(settings, ConfigValue(*statement, &tokens));
      }
    } catch (const UsageError& error) {
      throw PlacedError(statement->where, error);
    }
  }
  settings.host_name = tokens.host().host_name;
  return settings;
}

bool SshConfig::exec(const std::string& command) {
  const auto found = exec_results_.find(command);
  if (found != exec_results_.end()) return found->second;
  const std::optional<int> status = world_.run(command);
  if (!status)
    throw UsageError(fmt::format("{:?} of Match exec has no exit status (expected it to exit)", command));
  return exec_results_.emplace(command, *status == 0).first->second;
}

void SshConfig::ignore(const ConfigStatement& statement) {
  if (ignored_ids_.insert(statement.keyword->id).second)
    ignored_.push_back(fmt::format("{}: {}", statement.where, statement.keyword->name));
}

}  // namespace podrun::ssh
