// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/outcome.hpp"

#include <algorithm>

namespace podrun::run {
namespace {

struct Number {
  std::optional<int> operator()(const NotStarted&) const { return std::nullopt; }
  std::optional<int> operator()(const Stopped&) const { return std::nullopt; }
  std::optional<int> operator()(const link::Exited& exited) const { return exited.status; }
  std::optional<int> operator()(const link::Signaled& signaled) const { return 128 + signaled.signal; }
  std::optional<int> operator()(const TimedOut&) const { return 124; }
  std::optional<int> operator()(const Lost&) const { return 255; }
  std::optional<int> operator()(const Unreachable&) const { return 255; }
};

}  // namespace

std::optional<int> host_number(const HostOutcome& outcome) { return std::visit(Number{}, outcome); }

bool is_failure(const HostOutcome& outcome) { return host_number(outcome).value_or(0) != 0; }

bool may_have_run(const HostOutcome& outcome) {
  return !std::holds_alternative<NotStarted>(outcome) && !std::holds_alternative<Unreachable>(outcome);
}

int exit_status(const std::vector<HostOutcome>& outcomes, std::optional<int> interrupted_by) {
  if (interrupted_by) return 128 + *interrupted_by;
  int status = 0;
  for (const HostOutcome& outcome : outcomes) status = std::max(status, host_number(outcome).value_or(0));
  return status;
}

}  // namespace podrun::run
