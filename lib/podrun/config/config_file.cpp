// SPDX-License-Identifier: Apache-2.0
#include "podrun/config/config_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/private_group.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/whole_file.hpp"

namespace podrun::config {
namespace {

constexpr std::size_t kMaxSize = 16 * 1024 * 1024;  ///< bytes

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

std::string config_path(const hosts::Probe& probe, const std::string& home) {
  const std::string directory = probe.env("XDG_CONFIG_HOME").value_or("");
  return (directory.starts_with('/') ? directory : home + "/.config") + "/podrun/config.yaml";
}

std::string short_path(const std::string& path, const std::string& home) {
  return !home.empty() && path.starts_with(home + '/') ? '~' + path.substr(home.size()) : path;
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
  const std::optional<std::string> text = read_whole(descriptor.get(), kMaxSize);
  if (!text) throw cannot_read();
  return parse_configuration(*text, shown);
}

}  // namespace podrun::config
