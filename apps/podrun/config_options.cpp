// SPDX-License-Identifier: Apache-2.0
#include "config_options.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/error.hpp"
#include "podrun/base/nearest_name.hpp"
#include "podrun/config/config_file.hpp"
#include "podrun/local/login_environment.hpp"

#include "config_keys.hpp"
#include "config_values.hpp"

namespace podrun {
namespace {

bool is_environment(std::string_view key) { return key == "env" || key == "env-file"; }

/// What the file says is added to what the command line says.
bool adds_up(std::string_view key) { return is_environment(key) || key == "ssh-option"; }

/// Sets options from the pod, then from the defaults: what is settled stays.
class ConfigLayers {
 public:
  ConfigLayers(OptionTable& table, Options& options, AppliedConfig found, ConfigValues values)
      : table_(table), options_(options), applied_(std::move(found)), values_(std::move(values)) {}

  AppliedConfig apply() {
    for (const OptionEntry& option : table_.entries()) {
      if (!option.given.empty()) settled_.insert(topic_of(option.key()));
    }
    if (const ConfigSection* const pod = choose_pod()) apply_section(*pod, pod->name);
    if (applied_.config) apply_section(applied_.config->defaults, "");
    return std::move(applied_);
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw UsageError(fmt::format("{}: {}", place(line), what));
  }
  std::string place(std::size_t line) const { return fmt::format("{}:{}", applied_.path, line); }

  /// For `podrun config`: `config.yaml:7`, `pods.train (config.yaml:9)`.
  std::string origin(const std::string& pod, std::size_t line) const {
    const std::string in_file = place(line).substr(applied_.path.rfind('/') + 1);
    return pod.empty() ? in_file : fmt::format("pods.{} ({})", pod, in_file);
  }

  /// The command line's, else that of the defaults where the hosts are not chosen in another way.
  const ConfigSection* choose_pod() {
    if (table_.is_given("pod")) return &find_pod(options_.pod, "--pod");
    if (!applied_.config || settled_.contains("hosts")) return nullptr;
    for (const Setting& entry : applied_.config->defaults.entries) {
      if (entry.key != "pod") continue;
      set(*table_.find("pod"), entry, entry.values.front(), origin("", entry.line));
      return &find_pod(options_.pod, place(entry.line) + ": pod");
    }
    return nullptr;
  }

  const ConfigSection& find_pod(const std::string& name, const std::string& who) const {
    if (!applied_.config)
      throw UsageError(fmt::format("{}: no pod \"{}\": {} is not there (write it, or name the hosts with -H)",
                                   who, name, applied_.path));
    std::vector<std::string_view> names;
    for (const ConfigSection& pod : applied_.config->pods) {
      if (pod.name == name) return check_hosts(pod);
      names.push_back(pod.name);
    }
    const auto nearest = nearest_name(name, names);
    throw UsageError(
        fmt::format("{}: no pod \"{}\" in {} ({}{})", who, name, applied_.path,
                    nearest ? fmt::format("did you mean {}? ", *nearest) : "",
                    names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "))));
  }

  const ConfigSection& check_hosts(const ConfigSection& pod) const {
    const bool has_hosts = std::any_of(pod.entries.begin(), pod.entries.end(), [](const Setting& entry) {
      return topic_of(entry.key) == "hosts" && !entry.values.empty();
    });
    if (!has_hosts)
      fail(pod.line,
           fmt::format("pod \"{}\" has no hosts (expected hosts, hostfile or metadata: true)", pod.name));
    return pod;
  }

  void apply_section(const ConfigSection& section, const std::string& pod) {
    std::vector<ConfiguredEnvironment> environment;
    std::set<std::string> topics;
    for (const Setting& entry : section.entries) {
      if (entry.key == kMetadataKey) {
        set_metadata(entry, pod);
        topics.insert(topic_of(entry.key));
        continue;
      }
      OptionEntry& option = *option_of(entry, table_);
      const std::string topic = topic_of(option.key());
      const bool is_about_chosen_pod = !pod.empty() && topic == topic_of("pod");
      if (settled_.contains(topic) && !is_about_chosen_pod && !adds_up(option.key())) continue;
      topics.insert(topic);
      for (const SettingValue& value : entry.values) {
        const std::string from = origin(pod, value.line);
        if (is_environment(option.key())) {
          environment.push_back(variable(option, entry, value));
          option.given.push_back({value.text, from});
        } else {
          set(option, entry, value, from);
        }
      }
      remember_place(option.key(), entry, pod);
    }
    settled_.merge(topics);
    // Files before variables, and all of it before what has been said with more right.
    std::stable_partition(environment.begin(), environment.end(),
                          [](const auto& each) { return each.is_file; });
    std::vector<ConfiguredEnvironment>& all = options_.configured_environment;
    all.insert(all.begin(), environment.begin(), environment.end());
  }

  ConfiguredEnvironment variable(const OptionEntry& option, const Setting& entry,
                                 const SettingValue& value) const {
    const bool is_file = option.key() == "env-file";
    return {is_file, is_file ? values_.local_path(value.text) : value.text,
            fmt::format("{}: {}", place(value.line), entry.key)};
  }

  /// Lists are read later.
  void remember_place(const std::string& key, const Setting& entry, const std::string& pod) {
    if (key == "hosts")
      options_.hosts.lists_from = place(entry.line) + ": " + (pod.empty() ? key : "pods." + pod);
    if (key == "exclude-hosts") options_.hosts.exclude_from = place(entry.line) + ": " + key;
  }

  void set_metadata(const Setting& entry, const std::string& pod) {
    if (entry.values.front().text != "true")
      fail(entry.line, fmt::format("metadata: bad value \"{}\" (expected true)", entry.values.front().text));
    options_.hosts.metadata_only = true;
    applied_.metadata = origin(pod, entry.line);
  }

  void set(OptionEntry& option, const Setting& entry, const SettingValue& value, const std::string& from) {
    try {
      option.set(values_.text_for(option, value.text));
    } catch (const UsageError& error) {
      fail(value.line, fmt::format("{}: {}", entry.key, error.what()));
    }
    option.given.push_back({value.text, from});
  }

  OptionTable& table_;
  Options& options_;
  AppliedConfig applied_;
  ConfigValues values_;
  std::set<std::string> settled_;  ///< topics that nothing below may change
};

}  // namespace

AppliedConfig apply_config(OptionTable& table, Options& options, const Probe& probe) {
  const Account account = own_account(probe.env("HOME").value_or(""));
  const std::string path = config_path(probe, account.home);
  AppliedConfig found{.path = short_path(path, account.home),
                      .config = read_configuration(path, account.home, probe),
                      .metadata = {}};
  if (found.config) check_configuration(*found.config, table);
  ConfigValues values(account, path.substr(0, path.rfind('/') + 1), probe);
  return ConfigLayers(table, options, std::move(found), std::move(values)).apply();
}

}  // namespace podrun
