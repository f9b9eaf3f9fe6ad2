// SPDX-License-Identifier: Apache-2.0
// Any text as config.yaml: UsageError that names the file and a line, or settings without NUL bytes that read
// back when they are written with to_yaml().
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/config/config.hpp"

namespace {

using namespace podrun;

void expect(bool condition) {
  if (!condition) std::abort();
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_utf8(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

/// One line, which nothing can follow.
std::string line_of_yaml(const std::string& text) {
  std::string line = config::to_yaml(text);
  expect(!line.empty() && line.find('\n') == std::string::npos);
  return line;
}

/// The YAML after `:`, on the same line or below it.
std::string written(const config::Setting& setting, const std::string& indent) {
  if (setting.shape == config::Setting::Shape::scalar)
    return setting.values.empty() ? "\n" : line_of_yaml(setting.values.front().text) + '\n';
  const bool is_map = setting.shape == config::Setting::Shape::map;
  if (setting.values.empty()) return is_map ? "{}\n" : "[]\n";
  std::string text = "\n";
  for (const config::SettingValue& value : setting.values) {
    const std::size_t equals = is_map ? value.text.find('=') : std::string::npos;
    text += fmt::format("{}{} {}\n", indent, is_map ? '?' : '-', line_of_yaml(value.text.substr(0, equals)));
    if (equals != std::string::npos)
      text += fmt::format("{}: {}\n", indent, line_of_yaml(value.text.substr(equals + 1)));
  }
  return text;
}

std::string written(const config::ConfigSection& section, const std::string& indent) {
  std::string text;
  for (const config::Setting& setting : section.entries)
    text +=
        fmt::format("{0}? {1}\n{0}: {2}", indent, line_of_yaml(setting.key), written(setting, indent + "  "));
  return text;
}

std::string written(const config::Configuration& configuration) {
  std::string text = "defaults:\n" + written(configuration.defaults, "  ") + "pods:\n";
  for (const config::ConfigSection& pod : configuration.pods)
    text += fmt::format("  ? {}\n  :\n{}", line_of_yaml(pod.name), written(pod, "    "));
  return text;
}

void check_values(const config::ConfigSection& section) {
  for (const config::Setting& setting : section.entries) {
    expect(setting.line != 0);
    expect(setting.shape != config::Setting::Shape::scalar || setting.values.size() <= 1);
    for (const config::SettingValue& value : setting.values) {
      expect(value.line != 0);
      expect(value.text.find('\0') == std::string::npos);
    }
  }
}

void check_line(std::string_view error) {
  constexpr std::string_view kPath = "c.yaml:";
  expect(error.starts_with(kPath));
  error.remove_prefix(kPath.size());
  const std::size_t digits = error.find_first_not_of("0123456789");
  expect(digits != 0 && error.front() != '0' && error.substr(digits).starts_with(": "));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  config::Configuration configuration;
  try {
    configuration = config::parse_configuration(text, "c.yaml");
  } catch (const UsageError& error) {
    check_line(error.what());
    return 0;
  }
  check_values(configuration.defaults);
  for (const config::ConfigSection& pod : configuration.pods) check_values(pod);
  if (!is_utf8(text)) return 0;  // a byte that is no UTF-8 is written as U+FFFD
  const std::string once = written(configuration);
  expect(written(config::parse_configuration(once, "again")) == once);
  return 0;
}
