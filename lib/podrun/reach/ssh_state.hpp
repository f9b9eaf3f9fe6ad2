// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/reach/reach_plan.hpp"
#include "podrun/ssh/auth/identities.hpp"
#include "podrun/ssh/auth/login.hpp"
#include "podrun/ssh/host_keys/host_keys.hpp"

namespace podrun::reach {

/// Keys and host keys, read once for the run and kept when it starts again after a question.
struct SshState {
  /// Reads the keys of the user and of the hosts that SSH leads to.
  explicit SshState(const ReachPlan& plan) : identities(plan.home) {
    for (const auto& [worker, settings] : plan.settings->by_worker) read(settings);
    for (const ssh::SshSettings& settings : plan.settings->of_jump_hosts) read(settings);
  }

  ssh::HostKeys host_keys;
  ssh::Identities identities;
  ssh::LoginMemory memory;

 private:
  void read(const ssh::SshSettings& settings) {
    host_keys.load(settings);
    identities.find(settings);
  }
};

}  // namespace podrun::reach
