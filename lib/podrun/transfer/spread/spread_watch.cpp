// SPDX-License-Identifier: Apache-2.0
// When a host of a spread is taken for silent, and when a child leaves its parent. A malicious parent can
// send signs of life, or a byte now and then, forever: so what counts is what podrun hears of their progress.
#include "podrun/transfer/spread/spread_watch.hpp"

#include <algorithm>

namespace podrun::transfer {
namespace {

using Parent = SpreadStanding::Parent;

constexpr int kSilent = 6;                       ///< times Limits::leave
constexpr SpreadWatch::Time kLongestStep{2000};  ///< of a longer one podrun was suspended or busy

}  // namespace

SpreadWatch::Limits SpreadWatch::limits_for(std::chrono::seconds connect_timeout) {
  constexpr std::chrono::seconds kLeast{5};  // python3 may take 20 s to start, which load_relay.sh limits
  const std::chrono::seconds leave = std::max(kLeast, connect_timeout);
  return {.leave = leave, .silent = kSilent * leave};
}

SpreadWatch::Verdict SpreadWatch::look(const Look& look, Time step) {
  step = std::min(step, kLongestStep);
  Host& host = hosts_[look.host];
  host.silent = look.owes && look.progress == host.progress ? host.silent + step : Time{};
  host.kept = look.parent == host.parent ? host.kept + step : Time{};
  host.progress = look.progress;
  host.parent = look.parent;
  if (host.told) *host.told += step;
  if (host.silent >= limits_.silent + look.allowance) return Verdict::is_silent;
  const bool may_leave = look.parent != Parent::none && look.parent != Parent::waits;
  if (!may_leave || (host.silent < limits_.leave && !is_kept_too_long(host))) return Verdict::fine;
  if (host.told && *host.told < limits_.leave) return Verdict::fine;
  host.told = Time{};
  return Verdict::leave_parent;
}

bool SpreadWatch::is_kept_too_long(const Host& host) const {
  if (host.parent == Parent::is_over) return host.kept >= limits_.leave;
  return host.parent == Parent::has_all && host.kept >= limits_.silent;
}

}  // namespace podrun::transfer
