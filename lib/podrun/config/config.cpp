// SPDX-License-Identifier: Apache-2.0
// Finds config.yaml, checks who may write it, and reads it into keys and values with their line numbers. The
// command line knows the meaning of the keys.
#include "podrun/config/config.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/config/yaml_file.hpp"

namespace podrun::config {
namespace {

class ConfigReader {
 public:
  ConfigReader(const std::string& text, const std::string& path) : file_(text, path) { config_.path = path; }

  Configuration read() {
    for (const Pair& section : file_.pairs("\"defaults:\" or \"pods:\"")) {
      if (section.key == "defaults") {
        config_.defaults = {"defaults", section.line, read_entries(section, "options")};
      } else if (section.key == "pods") {
        for (const Pair& pod : file_.pairs(section.value, section.line, "a name and its options"))
          config_.pods.push_back({pod.key, pod.line, read_entries(pod, "options of the pod")});
      } else {
        const auto nearest = nearest_name(section.key, {"defaults", "pods"});
        file_.fail(section.line,
                   fmt::format("unknown key \"{}\" ({})", section.key,
                               nearest ? fmt::format("did you mean {}?", *nearest)
                                       : "expected defaults or pods; an option stands in defaults"));
      }
    }
    return std::move(config_);
  }

 private:
  using Pair = YamlFile::Pair;

  std::vector<Setting> read_entries(const Pair& section, std::string_view expected) const {
    std::vector<Setting> entries;
    for (const Pair& pair : file_.pairs(section.value, section.line, expected))
      entries.push_back(read_entry(pair));
    return entries;
  }

  Setting read_entry(const Pair& pair) const {
    Setting entry{.key = pair.key, .line = pair.line, .values = {}};
    if (pair.value.IsMap()) {
      entry.shape = Setting::Shape::map;
      for (const Pair& variable : file_.pairs(pair.value, pair.line, "NAME: VALUE")) {
        if (variable.key.find('=') != std::string::npos)
          file_.fail(variable.line,
                     fmt::format("\"{}\" is no name, it has a \"=\" (expected NAME: VALUE)", variable.key));
        const bool has_value = !variable.value.IsNull();
        entry.values.push_back({variable.key, variable.line});
        if (has_value) entry.values.back().text += '=' + file_.text(variable.value, pair.key, variable.line);
      }
    } else if (pair.value.IsSequence()) {
      entry.shape = Setting::Shape::list;
      for (const YAML::Node& item : pair.value)
        entry.values.push_back({file_.text(item, pair.key, pair.line), YamlFile::line_of(item, pair.line)});
    } else if (!pair.value.IsNull()) {
      entry.values.push_back({file_.text(pair.value, pair.key, pair.line), pair.line});
    }
    return entry;
  }

  YamlFile file_;
  Configuration config_;
};

constexpr std::size_t kMaxBytes = 16 * 1024 * 1024;

void check_owner(const struct stat& file, const std::string& path, const std::string& shown) {
  constexpr std::string_view kWhy = "it can name programs to run";
  if (file.st_uid != ::geteuid() && file.st_uid != 0) {
    throw UsageError(fmt::format(
        "{}: it belongs to another user, and {} (use a file of yours: $XDG_CONFIG_HOME/podrun/config.yaml)",
        shown, kWhy));
  }
  const bool by_group = (file.st_mode & S_IWGRP) != 0 && !is_private_group(file.st_gid, ::geteuid());
  if (!by_group && (file.st_mode & S_IWOTH) == 0) return;
  throw UsageError(
      fmt::format("{}: others may write to it, and {} (chmod go-w {})", shown, kWhy, shell_quote(path)));
}

}  // namespace

Configuration parse_configuration(const std::string& text, const std::string& path) {
  return ConfigReader(text, path).read();
}

std::string to_yaml(const std::string& value) {
  YAML::Emitter emitter;
  if (value.find('\r') != std::string::npos)
    emitter << YAML::DoubleQuoted;  // yaml-cpp 0.7 writes it as it is
  emitter << value;
  return emitter.c_str();
}

std::string config_path(const hosts::Probe& probe, const std::string& home) {
  const std::string directory = probe.env("XDG_CONFIG_HOME").value_or("");
  return (directory.starts_with('/') ? directory : home + "/.config") + "/podrun/config.yaml";
}

std::optional<Configuration> read_configuration(const std::string& path, const std::string& home) {
  const std::string shown = short_path(path, home);
  const auto cannot_read = [&shown] {
    return UsageError(
        fmt::format("cannot read {:?}: {} (make it readable, or set $XDG_CONFIG_HOME)", shown, errno_text()));
  };
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open() && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat file {};
  if (!descriptor.is_open() || ::fstat(descriptor.get(), &file) != 0) throw cannot_read();
  check_owner(file, path, shown);
  const std::optional<std::string> text = read_whole(descriptor.get(), kMaxBytes);
  if (!text) throw cannot_read();
  return parse_configuration(*text, shown);
}

}  // namespace podrun::config
