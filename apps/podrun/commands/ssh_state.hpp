// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/ssh/auth/identities.hpp"
#include "podrun/ssh/auth/login.hpp"
#include "podrun/ssh/host_keys/host_keys.hpp"

namespace podrun::commands {

/// What is read once for the run and kept when it is tried again after a question.
struct SshState {
  explicit SshState(const std::string& home) : identities(home) {}

  ssh::HostKeys host_keys;
  ssh::Identities identities;
  ssh::KeyMemory keys;
};

}  // namespace podrun::commands
