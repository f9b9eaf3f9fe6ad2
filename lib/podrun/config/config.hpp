// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

// What stands in config.yaml, with its lines; what the keys mean is the caller's. YAML 1.2,
// https://yaml.org/spec/1.2.2
namespace podrun {

/// A plain value, as it is written.
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
  /// Empty where nothing stands behind the key; of a map `NAME=value`, or `NAME` where it has no value.
  std::vector<SettingValue> values;
};

/// `defaults:` or a pod.
struct ConfigSection {
  std::string name;
  std::size_t line = 0;
  std::vector<Setting> entries;  ///< as in the file, no key twice
};

struct Configuration {
  std::string path;  ///< for people
  ConfigSection defaults;
  std::vector<ConfigSection> pods;
};

/// Throws UsageError that begins `path:line: `.
Configuration parse_configuration(const std::string& text, const std::string& path);

/// A value as YAML reads it back.
std::string to_yaml(const std::string& value);

}  // namespace podrun
