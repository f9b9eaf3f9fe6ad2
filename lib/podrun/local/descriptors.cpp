// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

constexpr rlim_t kPerChild = 12;
constexpr rlim_t kOwn = 24;        // at least
constexpr rlim_t kOwnAtEase = 64;  // name look-ups, agents

}  // namespace

std::size_t raise_descriptor_limit(HostCount hosts) {
  const rlim_t needed = kOwn + hosts.by_ssh + kPerChild * hosts.by_child;
  const rlim_t at_ease = kOwnAtEase + 2 * hosts.by_ssh + kPerChild * hosts.by_child;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= at_ease) return 0;
  if (limit.rlim_max < needed) {
    throw UsageError(fmt::format(
        "{} hosts need {} open files, the hard limit is {} (raise it with ulimit -Hn, or take fewer hosts)",
        hosts.by_ssh + hosts.by_child, needed, limit.rlim_max));
  }
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min(at_ease, limit.rlim_max);
  if (limit.rlim_cur == before) return 0;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

}  // namespace podrun
