// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun::local {
namespace {

constexpr rlim_t kPerChild = 12;
constexpr rlim_t kPerProxyCommand = 5;  // a socket, three pipes and a pidfd
constexpr rlim_t kPerAgentLogin = 3;    // libssh's pair of sockets, and a question to the agent
constexpr rlim_t kOwn = 24;             // the minimum
constexpr rlim_t kOwnAtEase = 64;       // with room for name look-ups

/// The open descriptors besides the three standard ones. See proc(5), /proc/pid/fd
rlim_t inherited() {
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  const auto all = error ? 0 : std::distance(begin(open), end(open));
  constexpr decltype(all) kExpected = 4;  // the directory itself included
  return static_cast<rlim_t>(std::max(all, kExpected) - kExpected);
}

}  // namespace

DescriptorLimit raise_descriptor_limit(HostCount hosts) {
  const rlim_t others = inherited();
  const rlim_t logins = std::min(hosts.with_agent, hosts.at_once);
  const rlim_t tunnels = hosts.behind_jump_hosts + kPerProxyCommand * hosts.proxy_commands;
  const rlim_t connected = others + kOwn + hosts.by_ssh + tunnels + kPerChild * hosts.by_child;
  const rlim_t needed = connected + (logins > 0 ? kPerAgentLogin : 0);
  const rlim_t at_ease = others + kOwnAtEase + 3 * (hosts.by_ssh + tunnels) + kPerChild * hosts.by_child +
                         kPerAgentLogin * logins;
  rlimit limit{};
  DescriptorLimit result{.at_once = hosts.at_once};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= at_ease) return result;
  if (limit.rlim_max < needed) {
    throw UsageError(fmt::format(
        "{} hosts need {} open files, the hard limit is {} (raise it with ulimit -Hn, or take fewer hosts)",
        hosts.by_ssh + hosts.by_child, needed, limit.rlim_max));
  }
  if (logins > 0) result.at_once = std::min(hosts.at_once, (limit.rlim_max - connected) / kPerAgentLogin);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min(at_ease, limit.rlim_max);
  if (limit.rlim_cur == before) return result;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  result.before = before;
  return result;
}

}  // namespace podrun::local
