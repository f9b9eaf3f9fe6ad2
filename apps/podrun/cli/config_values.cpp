// SPDX-License-Identifier: Apache-2.0
// Turns values of config.yaml into what would stand on the command line: paths, lists, checks of SSH options.
#include "cli/config_values.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "podrun/base/error.hpp"
#include "podrun/local/connectors.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

namespace podrun::cli {
namespace {

/// `-o: bad …` without the option, since it stands in the file by another name.
template <typename Check>
void check_without(std::string_view option, Check check) {
  try {
    check();
  } catch (const UsageError& error) {
    const std::string_view what = error.what();
    throw UsageError(std::string(what.starts_with(option) ? what.substr(option.size()) : what));
  }
}

}  // namespace

ConfigValues::ConfigValues(local::Account account, std::string directory, const hosts::Probe& probe)
    : account_(std::move(account)), directory_(std::move(directory)), probe_(probe) {}

std::string ConfigValues::text_for(const OptionEntry& option, const std::string& value) const {
  if (option.kind == OptionKind::count && value == "true") return "1";
  if (option.kind == OptionKind::count && value == "false") return "0";
  switch (option.row.value) {
    case ValueKind::host_list:
      return list_of_hosts(value);
    case ValueKind::local_file:
    case ValueKind::variable_file:
      return local_path(value);
    case ValueKind::here:
      return expand_home(value);
    case ValueKind::ssh_keyword:
      check_ssh_option(value);
      break;
    case ValueKind::jump_hosts:
      check_ssh_option("ProxyJump=" + value);
      break;
    case ValueKind::via_words:
      if (!value.empty()) check_without("--via: ", [&value] { const local::ViaTemplate checked(value); });
      break;
    case ValueKind::plain:
    case ValueKind::variable:
      break;
  }
  return value;
}

/// A file of this machine: relative to the directory of the configuration, `~` is home.
std::string ConfigValues::local_path(const std::string& path) const {
  const std::string expanded = expand_home(path);
  const bool is_relative = !expanded.empty() && !expanded.starts_with('/') && expanded != "none";
  return is_relative ? directory_ + expanded : expanded;
}

/// With `^FILE` as local_path().
std::string ConfigValues::list_of_hosts(const std::string& value) const {
  if (value == "-") throw UsageError("\"-\" is standard input (give it on the command line)");
  std::string text;
  for (std::size_t start = 0; start < value.size();) {
    const bool is_file =
        value[start] == '^' && (start == 0 || value[start - 1] == ',' || value[start - 1] == ' ');
    const std::size_t end = is_file ? std::min(value.find(',', start), value.size()) : start + 1;
    const std::string part = value.substr(start, end - start);
    text += is_file ? '^' + local_path(part.substr(1)) : part;
    start = end;
  }
  return text;
}

std::string ConfigValues::expand_home(const std::string& path) const {
  return path == "~" || path.starts_with("~/") ? account_.home + path.substr(1) : path;
}

void ConfigValues::check_ssh_option(const std::string& text) const {
  ssh::ConfigWorld world = ssh::system_config_world(account_.home, account_.name);
  world.env = [this](const std::string& name) { return probe_.env(name); };
  check_without("-o: ", [&] { const ssh::SshConfig checked(std::move(world), {.options = {text}}); });
}

}  // namespace podrun::cli
