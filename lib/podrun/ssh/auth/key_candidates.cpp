// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/auth/key_candidates.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "podrun/ssh/config/algorithms.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
namespace {

/// Whether the settings allow this key to be offered.
bool is_allowed(const SshSettings& settings, const std::string& blob) {
  if (blob.empty()) return true;  // unknown until it is unlocked
  if (const auto bits = rsa_bits(blob); bits && *bits < settings.required_rsa_size) return false;
  const std::string& configured = settings.public_key_algorithms;
  return accepts_key_type(configured.empty() ? kPublicKeyAlgorithms : configured, key_type(blob));
}

std::string name_of(const std::variant<AgentKey, std::shared_ptr<const Identity>>& key) {
  if (const auto* const identity = std::get_if<std::shared_ptr<const Identity>>(&key))
    return (*identity)->name;
  return name_of(std::get<AgentKey>(key));
}

}  // namespace

std::string name_of(const AgentKey& key) { return fmt::format("the agent's \"{}\"", key.comment); }

KeyCandidates key_candidates(const IdentityList& identities, std::vector<AgentKey> agent_keys,
                             const SshSettings& settings, std::string_view last_accepted) {
  const auto is_identity = [&](const AgentKey& key) {
    return std::any_of(identities.begin(), identities.end(),
                       [&](const auto& identity) { return identity->public_blob == key.blob; });
  };
  if (settings.identities_only) std::erase_if(agent_keys, std::not_fn(is_identity));
  std::stable_partition(agent_keys.begin(), agent_keys.end(), is_identity);
  KeyCandidates candidates;
  std::vector<KeyCandidate>& all = candidates.in_order;
  for (const AgentKey& key : agent_keys) all.push_back({key.blob, key});
  for (const auto& identity : identities) {
    const std::string& blob = identity->public_blob;
    const auto agent_has = [&](const std::string& wanted) {
      return std::any_of(agent_keys.begin(), agent_keys.end(),
                         [&](const AgentKey& key) { return key.blob == wanted; });
    };
    if (agent_has(blob)) continue;
    if (!identity->key && is_certificate(blob) && agent_has(plain_key(blob))) {
      all.insert(all.begin(), {blob, AgentKey{blob, identity->name, plain_key(blob)}});
    } else if (identity->key || !identity->locked_file.empty()) {
      all.push_back({blob, identity});
    }
  }
  std::erase_if(all, [&](const KeyCandidate& candidate) {
    const bool allowed = is_allowed(settings, candidate.blob);
    if (!allowed) candidates.not_allowed.push_back(name_of(candidate.key));
    return !allowed;
  });
  std::stable_partition(all.begin(), all.end(), [&](const KeyCandidate& candidate) {
    return !candidate.blob.empty() && candidate.blob == last_accepted;
  });
  return candidates;
}

}  // namespace podrun::ssh
