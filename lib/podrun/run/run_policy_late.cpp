// SPDX-License-Identifier: Apache-2.0
// The state machine of a run that does not wait for late hosts (Limits::late_after): the others start, and
// Ctrl-C goes on without those that are late.
#include <utility>

#include "podrun/run/run_policy.hpp"

namespace podrun::run {

/// Starts again with each host that becomes ready, fails or ends, until the time is over once.
void RunPolicy::count_quiet_time() {
  if (limits_.late_after && !quiet_) count_down(hosts_.size(), *limits_.late_after);
}

/// Without a ready host there is nothing to start, and nothing to show.
void RunPolicy::start_without_late() {
  if (cancelled_ || doomed_ || (count(State::ready) == 0 && !splits_)) return;
  splits_ = quiet_ = true;
}

void RunPolicy::report_late() {
  const bool are_others_over =
      count(State::done) + count(State::waiting) + count(State::connecting) == hosts_.size();
  if (!quiet_ || !are_others_over) return;
  std::vector<std::size_t> late = on_their_way();
  if (late.empty()) return;
  quiet_ = false;
  may_give_up_ = true;
  actions_.emplace_back(action::Late{std::move(late)});
}

/// True: Ctrl-C was the answer to action::Late. Late hosts are unreachable then, each at its present stage.
bool RunPolicy::give_up_late() {
  const std::vector<std::size_t> late = on_their_way();
  if (!std::exchange(may_give_up_, false) || late.empty()) return false;
  const link::Failure failure{.cause = link::Cause::cancelled, .detail = "Ctrl-C"};
  for (const std::size_t host : late) {
    if (hosts_[host].state == State::connecting) {
      actions_.emplace_back(action::Abandon{host, failure});  // NotReady follows
      continue;
    }
    if (hosts_[host].attempts == 0) outcomes_[host] = Unreachable{failure, 0};
    finish(host);
  }
  return true;
}

std::vector<std::size_t> RunPolicy::on_their_way() const {
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].state == State::waiting || hosts_[host].state == State::connecting)
      hosts.push_back(host);
  }
  return hosts;
}

}  // namespace podrun::run
