// SPDX-License-Identifier: Apache-2.0
#include "config_keys.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/nearest_name.hpp"
#include "podrun/remote/environment.hpp"

#include "option_values.hpp"

namespace podrun {
namespace {

using Shape = Setting::Shape;

enum class Place { defaults, pod };

bool is_boolean(const Setting& entry) {
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
      if (!option.command_line_only) names.push_back(name);
    }
  }
  const auto nearest = nearest_name(key, names);
  return fmt::format("unknown key \"{}\" ({})", key,
                     nearest ? fmt::format("did you mean {}?", *nearest)
                             : "expected a long option of podrun --help, without --");
}

/// What is wrong with a key; empty: nothing.
std::string fault_of_key(const Setting& entry, const OptionEntry* option, Place place,
                         const OptionTable& table) {
  const std::string& key = entry.key;
  if (key == kMetadataKey) {
    return place == Place::pod ? "" : "metadata: it belongs to a pod (write it there, and pod: NAME here)";
  }
  if (key == "internal") return "internal: not supported (list the addresses that this machine reaches)";
  if (!option) return unknown_key(key, table);
  if (key == "pod" && place == Place::pod)
    return "pod: a pod has no pod (expected hosts, hostfile or metadata: true)";
  if (option->command_line_only) return key + ": it belongs to one run (give it on the command line)";
  return {};
}

std::string fault_of_shape(const Setting& entry, const OptionEntry* option) {
  const bool is_list = option && option->kind == OptionKind::list;
  const bool has_names = option && (option->key() == "env" || option->key() == "ssh-option");
  const bool may_be_empty = entry.shape != Shape::scalar && topic_of(entry.key) != "hosts";
  if (entry.values.empty() && !may_be_empty) return entry.key + ": its value is missing";
  if (entry.shape == Shape::map && !has_names)
    return fmt::format("{}: a map (expected {})", entry.key, is_list ? "a value or a list" : "one value");
  if (entry.shape == Shape::list && !is_list) return entry.key + ": a list (expected one value)";
  return {};
}

void check_section(const ConfigSection& section, Place place, const std::string& path, OptionTable& table) {
  const auto check = [&path](const Setting& entry, const std::string& fault) {
    if (!fault.empty()) throw UsageError(fmt::format("{}:{}: {}", path, entry.line, fault));
  };
  const auto check_names = [&path](const Setting& entry) {
    for (const SettingValue& value : entry.values) {
      const std::string name = value.text.substr(0, value.text.find('='));
      if (is_variable_name(name)) continue;
      throw UsageError(fmt::format("{}:{}: {}: bad name \"{}\" (expected letters, digits and _)", path,
                                   value.line, entry.key, name));
    }
  };
  std::map<std::string, const Setting*> topics;
  for (const Setting& entry : section.entries) {
    const OptionEntry* const option = option_of(entry, table);
    check(entry, fault_of_key(entry, option, place, table));
    check(entry, fault_of_shape(entry, option));
    if (option && option->key() == "env") check_names(entry);
    const auto [before, is_new] = topics.emplace(topic_of(option ? option->key() : entry.key), &entry);
    if (is_new) continue;
    check(entry, fmt::format("{}: line {} has {} already (give one of them)", entry.key, before->second->line,
                             before->second->key));
  }
}

}  // namespace

OptionEntry* option_of(const Setting& entry, OptionTable& table) {
  return table.find(entry.key == "cwd" && !is_boolean(entry) ? "chdir" : entry.key);
}

std::string topic_of(const std::string& key) {
  static const std::map<std::string, std::string> kTopics = {
      {"hosts", "hosts"},   {"hostfile", "hosts"},  {"pod", "hosts"},   {"metadata", "hosts"},
      {"cwd", "directory"}, {"chdir", "directory"}, {"label", "label"}, {"no-label", "label"}};
  const auto topic = kTopics.find(key);
  return topic == kTopics.end() ? key : topic->second;
}

void check_configuration(const Configuration& config, OptionTable& table) {
  check_section(config.defaults, Place::defaults, config.path, table);
  for (const ConfigSection& pod : config.pods) check_section(pod, Place::pod, config.path, table);
}

}  // namespace podrun
