// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/ssh/host_keys.hpp"
#include "podrun/ssh/identities.hpp"
#include "podrun/ssh/login.hpp"

namespace podrun {

/// What is read once for the run and kept when it is tried again after a question.
struct SshState {
  explicit SshState(const std::string& home) : identities(home) {}

  HostKeys host_keys;
  Identities identities;
  KeyMemory keys;
};

}  // namespace podrun
