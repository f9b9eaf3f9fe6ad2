// SPDX-License-Identifier: Apache-2.0
// Checks the keys of config.yaml and the shape of their values against the table of options.
#include "cli/config_keys.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/supervisor/environment.hpp"

#include "cli/option_values.hpp"

namespace podrun::cli {
namespace {

using Shape = config::Setting::Shape;

enum class Place { defaults, pod };

bool is_boolean(const config::Setting& entry) {
  if (entry.shape != Shape::scalar || entry.values.size() != 1) return false;
  try {
    parse_boolean(entry.values.front().text);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

std::string unknown_key(const std::string& key, const OptionTable& table) {
  std::vector<std::string_view> names;
  for (const OptionEntry& option : table.entries()) {
    for (const std::string& name : option.keys) {
      if (key == "no-" + name) return fmt::format("unknown key \"{}\" (write {}: false)", key, name);
      if (option.row.merge != Merge::not_allowed) names.push_back(name);
    }
  }
  const auto nearest = nearest_name(key, names);
  return fmt::format("unknown key \"{}\" ({})", key,
                     nearest ? fmt::format("did you mean {}?", *nearest)
                             : "expected a long option of podrun help all, without --");
}

/// The reason why the key is not allowed here; empty when it is.
std::string fault_of_key(const config::Setting& entry, const OptionEntry* option, Place place,
                         const OptionTable& table) {
  const std::string& key = entry.key;
  if (key == kMetadataKey) {
    return place == Place::pod ? "" : "metadata: it belongs to a pod (write it there, and pod: NAME here)";
  }
  if (key == "internal") return "internal: not supported (list the addresses that this machine reaches)";
  if (!option) return unknown_key(key, table);
  if (key == "pod" && place == Place::pod)
    return "pod: a pod has no pod (expected hosts, hostfile or metadata: true)";
  if (option->row.merge == Merge::not_allowed)
    return key + ": it belongs to one run (give it on the command line)";
  return {};
}

std::string fault_of_shape(const config::Setting& entry, const OptionEntry* option,
                           const OptionTable& table) {
  const bool is_list = option && option->kind == OptionKind::list;
  const bool has_names =
      option && (option->row.value == ValueKind::variable || option->row.value == ValueKind::ssh_keyword);
  const bool chooses_hosts = subject_of(entry, table) == table.find("hosts")->subject();
  const bool may_be_empty = entry.shape != Shape::scalar && !chooses_hosts;
  if (entry.values.empty() && !may_be_empty) return entry.key + ": its value is missing";
  if (entry.shape == Shape::map && !has_names)
    return fmt::format("{}: a map (expected {})", entry.key, is_list ? "a value or a list" : "one value");
  if (entry.shape == Shape::list && !is_list) return entry.key + ": a list (expected one value)";
  return {};
}

void check_section(const config::ConfigSection& section, Place place, const std::string& path,
                   const OptionTable& table) {
  const auto check = [&path](const config::Setting& entry, const std::string& fault) {
    if (!fault.empty()) throw UsageError(fmt::format("{}:{}: {}", path, entry.line, fault));
  };
  const auto check_names = [&path](const config::Setting& entry) {
    for (const config::SettingValue& value : entry.values) {
      const std::string name = value.text.substr(0, value.text.find('='));
      if (supervisor::is_variable_name(name)) continue;
      throw UsageError(fmt::format("{}:{}: {}: bad name \"{}\" (expected letters, digits and _)", path,
                                   value.line, entry.key, name));
    }
  };
  std::map<std::string_view, const config::Setting*> subjects;
  for (const config::Setting& entry : section.entries) {
    const OptionEntry* const option = option_of(entry, table);
    check(entry, fault_of_key(entry, option, place, table));
    check(entry, fault_of_shape(entry, option, table));
    if (option && option->row.value == ValueKind::variable) check_names(entry);
    const auto [before, is_new] = subjects.emplace(subject_of(entry, table), &entry);
    if (is_new) continue;
    check(entry, fmt::format("{}: line {} has {} already (give one of them)", entry.key, before->second->line,
                             before->second->key));
  }
}

}  // namespace

const OptionEntry* option_of(const config::Setting& entry, const OptionTable& table) {
  return table.find(entry.key == "cwd" && !is_boolean(entry) ? "chdir" : entry.key);
}

std::string_view subject_of(const config::Setting& entry, const OptionTable& table) {
  if (entry.key == kMetadataKey) return table.find("hosts")->subject();
  const OptionEntry* const option = option_of(entry, table);
  return option ? option->subject() : std::string_view(entry.key);
}

void check_configuration(const config::Configuration& config, const OptionTable& table) {
  check_section(config.defaults, Place::defaults, config.path, table);
  for (const config::ConfigSection& pod : config.pods) check_section(pod, Place::pod, config.path, table);
}

}  // namespace podrun::cli
