// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "podrun/ssh/auth/agent_messages.hpp"
#include "podrun/ssh/auth/identities.hpp"
#include "podrun/ssh/config/settings.hpp"

// Which keys a login offers, and in which order. Pure.
namespace podrun::ssh {

/// A key of the agent or of a file.
struct KeyCandidate {
  std::string blob;  ///< empty: unknown until the file is unlocked
  std::variant<AgentKey, std::shared_ptr<const Identity>> key;
};

struct KeyCandidates {
  std::vector<KeyCandidate> in_order;
  std::vector<std::string> not_allowed;  ///< excluded by PubkeyAcceptedAlgorithms or RequiredRSASize
};

/// The order of ssh: the agent's keys that are also named files, its other keys, the files. The key that the
/// last host accepted comes first, because servers disconnect after some wrong keys.
KeyCandidates key_candidates(const IdentityList& identities, std::vector<AgentKey> agent_keys,
                             const SshSettings& settings, std::string_view last_accepted);

/// For people.
std::string name_of(const AgentKey& key);

}  // namespace podrun::ssh
