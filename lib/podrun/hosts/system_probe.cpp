// SPDX-License-Identifier: Apache-2.0
// The Probe of the real machine: environment, files, network interfaces, HTTP.
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {
namespace {

constexpr std::size_t kMaxFileSize = 64 * 1024 * 1024;

[[noreturn]] void cannot_read(const std::string& name, const std::string& reason) {
  throw UsageError(fmt::format("cannot read {:?}: {}", name, reason));
}

std::string read_all(int descriptor, const std::string& name) {
  std::optional<std::string> text = read_whole(descriptor, kMaxFileSize);
  if (text) return *std::move(text);
  cannot_read(name, errno == EFBIG ? "larger than 64 MiB" : errno_text());
}

/// The address without its port; empty if there is none, as for a packet interface.
std::string numeric_address(const sockaddr* address) {
  if (!address) return {};
  const socklen_t size = address->sa_family == AF_INET    ? sizeof(sockaddr_in)
                         : address->sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                          : 0;
  std::array<char, NI_MAXHOST> text{};
  if (size == 0 || getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return {};
  }
  return text.data();
}

class SystemProbe final : public Probe {
 public:
  std::optional<std::string> env(const std::string& name) const override {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  }

  std::optional<std::string> read_file(const std::string& path) const override {
    check_current_directory(fmt::format("cannot read {:?}", path), path);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    if (!file) cannot_read(path, errno_text());
    return read_all(::fileno(file.get()), path);
  }

  std::string read_standard_input() const override { return read_all(STDIN_FILENO, "standard input"); }

  std::vector<std::string> own_names() const override {
    std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) {
      names.emplace_back(name.data());
      names.push_back(names.back().substr(0, names.back().find('.')));
    }
    ifaddrs* interfaces = nullptr;
    if (getifaddrs(&interfaces) != 0) return names;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(interfaces, freeifaddrs);
    for (const ifaddrs* entry = interfaces; entry; entry = entry->ifa_next) {
      if (std::string address = numeric_address(entry->ifa_addr); !address.empty()) names.push_back(address);
    }
    return names;
  }

  std::vector<HttpAnswer> http_get(const std::vector<std::string>& urls,
                                   std::chrono::milliseconds within) const override {
    return podrun::hosts::http_get(urls, within);
  }
};

std::optional<std::string> user_directory(const Probe& probe, const std::string& variable,
                                          const std::string& below_home) {
  const std::string given = probe.env(variable).value_or("");
  if (given.starts_with('/')) return given + "/podrun";
  const std::string home = probe.env("HOME").value_or("");
  return home.empty() ? std::nullopt : std::optional(home + below_home + "/podrun");
}

}  // namespace

std::optional<std::string> cache_directory(const Probe& probe) {
  return user_directory(probe, "XDG_CACHE_HOME", "/.cache");
}

std::optional<std::string> state_directory(const Probe& probe) {
  return user_directory(probe, "XDG_STATE_HOME", "/.local/state");
}

void check_state(const std::string& name, const Probe& probe) {
  const std::optional<std::string> directory = state_directory(probe);
  if (!directory) return;
  for (const std::string& path : {*directory, *directory + '/' + name}) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) continue;
    if (status.st_uid != ::geteuid() && status.st_uid != 0)
      throw UsageError(
          fmt::format("{}: it belongs to another user, who could choose the hosts (remove it)", path));
    const bool by_group = (status.st_mode & S_IWGRP) != 0 && !is_private_group(status.st_gid, ::geteuid());
    if (by_group || (status.st_mode & S_IWOTH) != 0)
      throw UsageError(fmt::format("{}: others may write to it, and so choose the hosts (chmod go-w {})",
                                   path, shell_quote(path)));
  }
}

std::string recall_state(const std::string& name, const Probe& probe) try {
  check_state(name, probe);
  const std::optional<std::string> directory = state_directory(probe);
  return directory ? probe.read_file(*directory + '/' + name).value_or("") : "";
} catch (const UsageError&) {
  return {};
}

void remember_state(const std::string& name, const std::string& text, const Probe& probe) {
  const std::optional<std::string> directory = state_directory(probe);
  if (!directory) return;
  make_private_directory(*directory);
  replace_file(*directory + '/' + name, text);
}

std::unique_ptr<Probe> make_system_probe() { return std::make_unique<SystemProbe>(); }

}  // namespace podrun::hosts
