// SPDX-License-Identifier: Apache-2.0
// Applies config.yaml after the command line: the chosen pod, then `defaults`, each option by its merge rule.
#include "cli/config_options.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/local/connectors.hpp"
#include "podrun/local/login_environment.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

#include "cli/config_keys.hpp"
#include "cli/podrun_command.hpp"

namespace podrun::cli {
namespace {

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == text.npos; }

bool is_environment(const OptionEntry& option) {
  return option.row.value == ValueKind::variable || option.row.value == ValueKind::variable_file;
}

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

/// Turns values of config.yaml into what would stand on the command line.
class ConfigValues {
 public:
  /// `directory`: of the file, with a slash at the end.
  ConfigValues(local::Account account, std::string directory, const hosts::Probe& probe)
      : account_(std::move(account)), directory_(std::move(directory)), probe_(probe) {}

  /// Throws UsageError for a fault that would otherwise be found later, without the place in the file.
  std::string text_for(const OptionEntry& option, const std::string& value) const {
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

 private:
  /// A relative path counts from the directory of the configuration.
  std::string local_path(const std::string& path) const {
    const std::string expanded = expand_home(path);
    const bool is_relative = !expanded.empty() && !expanded.starts_with('/') && expanded != "none";
    return is_relative ? directory_ + expanded : expanded;
  }
  /// Treats the path in `^FILE` as local_path() does.
  std::string list_of_hosts(const std::string& value) const {
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
  std::string expand_home(const std::string& path) const {
    return path == "~" || path.starts_with("~/") ? account_.home + path.substr(1) : path;
  }
  void check_ssh_option(const std::string& text) const {
    ssh::ConfigWorld world = ssh::system_config_world(account_.home, account_.name);
    world.env = [this](const std::string& name) { return probe_.env(name); };
    check_without("-o: ", [&] { const ssh::SshConfig checked(std::move(world), {.options = {text}}); });
  }

  local::Account account_;
  std::string directory_;
  const hosts::Probe& probe_;
};

/// Sets options from the pod, then from the defaults: what is settled stays.
class ConfigLayers {
 public:
  ConfigLayers(OptionTable& table, Options& options, const CommandRow& command, AppliedConfig found,
               ConfigValues values)
      : table_(table),
        options_(options),
        command_(command),
        applied_(std::move(found)),
        values_(std::move(values)) {}

  AppliedConfig apply() {
    for (const OptionEntry& option : table_.entries()) {
      if (!option.given.empty()) settled_.insert(option.subject());
    }
    if (const config::ConfigSection* const pod = choose_pod()) apply_section(*pod, pod->name);
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
  const config::ConfigSection* choose_pod() {
    if (table_.is_given("pod")) return &find_pod(options_.pod, "--pod");
    if (!applied_.config || settled_.contains(hosts_subject())) return nullptr;
    for (const config::Setting& entry : applied_.config->defaults.entries) {
      if (entry.key != "pod") continue;
      set(*table_.find("pod"), entry, entry.values.front(), origin("", entry.line));
      return &find_pod(options_.pod, place(entry.line) + ": pod");
    }
    return nullptr;
  }

  const config::ConfigSection& find_pod(const std::string& name, const std::string& who) const {
    if (!applied_.config)
      throw UsageError(fmt::format("{}: no pod \"{}\": {} is not there ({})", who, name, applied_.path,
                                   is_number(name) ? fmt::format("for the port: --port {}", name)
                                                   : "write it, or name the hosts with -H"));
    std::vector<std::string_view> names;
    for (const config::ConfigSection& pod : applied_.config->pods) {
      if (pod.name == name) return check_hosts(pod);
      names.push_back(pod.name);
    }
    throw UsageError(fmt::format(
        "{}: no pod \"{}\" in {} ({}{}{})", who, name, applied_.path,
        is_number(name) ? fmt::format("for the port: --port {}; ", name) : "", did_you_mean(name, names),
        names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "))));
  }

  const config::ConfigSection& check_hosts(const config::ConfigSection& pod) const {
    const bool has_hosts =
        std::any_of(pod.entries.begin(), pod.entries.end(), [this](const config::Setting& entry) {
          return subject_of(entry, table_) == hosts_subject() && !entry.values.empty();
        });
    if (!has_hosts)
      fail(pod.line,
           fmt::format("pod \"{}\" has no hosts (expected hosts, hostfile or metadata: true)", pod.name));
    return pod;
  }

  void apply_section(const config::ConfigSection& section, const std::string& pod) {
    std::vector<ConfiguredEnvironment> environment;
    std::set<std::string_view> subjects;
    for (const config::Setting& entry : section.entries) {
      if (entry.key == kMetadataKey) {
        set_metadata(entry, pod);
        subjects.insert(hosts_subject());
        continue;
      }
      OptionEntry& option = *table_.find(option_of(entry, table_)->key());
      const std::string_view subject = option.subject();
      const bool is_about_chosen_pod = !pod.empty() && subject == hosts_subject();
      if (settled_.contains(subject) && !is_about_chosen_pod && option.row.merge != Merge::adds) continue;
      subjects.insert(subject);
      for (const config::SettingValue& value : entry.values) {
        const std::string from = origin(pod, value.line);
        if (is_environment(option)) {
          if (command_.takes_option(option)) environment.push_back(variable(option, entry, value));
          option.given.push_back({value.text, from});
        } else {
          set(option, entry, value, from);
        }
      }
      remember_place(option.key(), entry, pod);
    }
    settled_.merge(subjects);
    // Files before variables, and all of it before what has been said with more right.
    std::stable_partition(environment.begin(), environment.end(),
                          [](const auto& each) { return each.is_file; });
    std::vector<ConfiguredEnvironment>& all = options_.configured_environment;
    all.insert(all.begin(), environment.begin(), environment.end());
  }

  ConfiguredEnvironment variable(const OptionEntry& option, const config::Setting& entry,
                                 const config::SettingValue& value) const {
    return {option.row.value == ValueKind::variable_file, values_.text_for(option, value.text),
            fmt::format("{}: {}", place(value.line), entry.key)};
  }

  /// Lists are read later.
  void remember_place(const std::string& key, const config::Setting& entry, const std::string& pod) {
    if (key == "hosts")
      options_.hosts.lists_from = place(entry.line) + ": " + (pod.empty() ? key : "pods." + pod);
    if (key == "exclude-hosts") options_.hosts.exclude_from = place(entry.line) + ": " + key;
  }

  void set_metadata(const config::Setting& entry, const std::string& pod) {
    if (entry.values.front().text != "true")
      fail(entry.line, fmt::format("metadata: bad value \"{}\" (expected true)", entry.values.front().text));
    options_.hosts.metadata_only = true;
    applied_.metadata = origin(pod, entry.line);
  }

  void set(OptionEntry& option, const config::Setting& entry, const config::SettingValue& value,
           const std::string& from) {
    std::optional<Options> before;
    if (!command_.takes_option(option)) before = options_;
    try {
      option.set(values_.text_for(option, value.text));
    } catch (const UsageError& error) {
      fail(value.line, fmt::format("{}: {}", entry.key, error.what()));
    }
    if (before) options_ = *std::move(before);  // only the check of the value was wanted
    option.given.push_back({value.text, from});
  }

  std::string_view hosts_subject() const { return table_.find("hosts")->subject(); }

  OptionTable& table_;
  Options& options_;
  const CommandRow& command_;
  AppliedConfig applied_;
  ConfigValues values_;
  std::set<std::string_view> settled_;  ///< subjects that nothing below may change
};

}  // namespace

AppliedConfig apply_config(OptionTable& table, Options& options, const CommandRow& command,
                           const hosts::Probe& probe) {
  const local::Account account = local::own_account(probe.env("HOME").value_or(""));
  const std::string path = config::config_path(probe, account.home);
  AppliedConfig found{.path = short_path(path, account.home),
                      .config = config::read_configuration(path, account.home),
                      .metadata = {}};
  if (found.config) check_configuration(*found.config, table);
  ConfigValues values(account, path.substr(0, path.rfind('/') + 1), probe);
  return ConfigLayers(table, options, command, std::move(found), std::move(values)).apply();
}

}  // namespace podrun::cli
