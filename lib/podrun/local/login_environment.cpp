// SPDX-License-Identifier: Apache-2.0
// The environment that a login on this machine would get, for `local` hosts.
#include "podrun/local/login_environment.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

namespace podrun::local {
namespace {

constexpr std::string_view kUserPath = "/usr/local/bin:/usr/bin:/bin:/usr/games";
constexpr std::string_view kRootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void set(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  const std::string start = fmt::format("{}=", name);
  auto same = std::find_if(environment.begin(), environment.end(),
                           [&](const std::string& entry) { return entry.starts_with(start); });
  if (same == environment.end()) same = environment.emplace(environment.end());
  *same = start + std::string(value);
}

std::string_view unquoted(std::string_view value) {
  const bool quoted =
      value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
  return quoted ? value.substr(1, value.size() - 2) : value;
}

void apply_line(std::vector<std::string>& environment, std::string_view line) {
  line = trim_space(line);
  if (line.starts_with("export ")) line = trim_space(line.substr(7));
  const std::size_t equals = line.find('=');
  if (line.starts_with('#') || equals == std::string_view::npos || equals == 0) return;
  set(environment, line.substr(0, equals), unquoted(line.substr(equals + 1)));
}

}  // namespace

Account own_account(std::string_view home_override) {
  Account account{
      .name = std::to_string(::getuid()), .home = "/", .shell = "/bin/sh", .is_root = ::getuid() == 0};
  if (const passwd* entry = ::getpwuid(::getuid())) {
    account.name = entry->pw_name;
    account.home = entry->pw_dir;
    if (*entry->pw_shell != '\0') account.shell = entry->pw_shell;
  }
  if (!home_override.empty()) account.home = home_override;
  return account;
}

std::vector<std::string> login_environment(const Account& account, std::string_view etc_environment) {
  std::vector<std::string> environment;
  set(environment, "HOME", account.home);
  set(environment, "USER", account.name);
  set(environment, "LOGNAME", account.name);
  set(environment, "SHELL", account.shell);
  set(environment, "PATH", account.is_root ? kRootPath : kUserPath);
  while (!etc_environment.empty()) {
    const std::size_t end = std::min(etc_environment.find('\n'), etc_environment.size());
    apply_line(environment, etc_environment.substr(0, end));
    etc_environment.remove_prefix(std::min(end + 1, etc_environment.size()));
  }
  return environment;
}

std::string home_directory(const std::vector<std::string>& environment) {
  for (const std::string& entry : environment) {
    if (!entry.starts_with("HOME=")) continue;
    const std::string home = entry.substr(5);
    std::error_code error;
    if (std::filesystem::is_directory(home, error) && ::access(home.c_str(), X_OK) == 0) return home;
  }
  return "/";
}

}  // namespace podrun::local
