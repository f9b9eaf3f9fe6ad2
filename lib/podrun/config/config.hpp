// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"

// The content of config.yaml, with line numbers; the caller knows the meaning of the keys. YAML 1.2:
// https://yaml.org/spec/1.2.2
namespace podrun::config {

/// A plain value, as written.
struct SettingValue {
  std::string text;
  std::size_t line = 0;  ///< from 1
};

/// `key: value`, `key: [value, …]` or `key: {NAME: value, …}`.
struct Setting {
  enum class Shape { scalar, list, map };

  std::string key;
  std::size_t line = 0;
  Shape shape = Shape::scalar;
  /// Empty if the key has no value. A map's values are `NAME=value`, or `NAME` without a value.
  std::vector<SettingValue> values;
};

/// `defaults:`, or one of the pods.
struct ConfigSection {
  std::string name;
  std::size_t line = 0;
  std::vector<Setting> entries;  ///< in the order of the file, no key twice
};

struct Configuration {
  std::string path;  ///< for messages
  ConfigSection defaults;
  std::vector<ConfigSection> pods;
};

/// Throws UsageError that begins `path:line: `.
Configuration parse_configuration(const std::string& text, const std::string& path);

/// The value as YAML text, quoted where YAML would otherwise read something else.
std::string to_yaml(const std::string& value);

/// `$XDG_CONFIG_HOME/podrun/config.yaml`, else `~/.config/podrun/config.yaml`. A relative $XDG_CONFIG_HOME is
/// ignored: https://specifications.freedesktop.org/basedir-spec
std::string config_path(const hosts::Probe& probe, const std::string& home);

/// Reads the file; none if it is missing. Throws UsageError if it cannot be read or is wrong, or if others
/// own it or may write it, because it can name programs to run.
std::optional<Configuration> read_configuration(const std::string& path, const std::string& home);

}  // namespace podrun::config
