// SPDX-License-Identifier: Apache-2.0
// Finds the settings that `ssh -G` would show for each host, from the files of ssh_config(5) and `-o`.
#include "podrun/ssh/config/ssh_config.hpp"

#include <algorithm>
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
