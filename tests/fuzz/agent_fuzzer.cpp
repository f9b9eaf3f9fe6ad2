// SPDX-License-Identifier: Apache-2.0
// Anything as an agent's answer: what is taken for a list of keys is exactly that, and each key can be looked
// at.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

namespace {

void look_at(const std::string& blob) {
  const std::string plain = podrun::ssh::plain_key(blob);
  if (!plain.empty() && podrun::ssh::plain_key(plain) != plain) std::abort();
  if (podrun::ssh::is_user_certificate(blob) && (!podrun::ssh::is_certificate(blob) || plain.empty()))
    std::abort();
  if (podrun::ssh::rsa_bits(blob).value_or(0) > blob.size() * 8) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string message(data, data + size);
  const auto keys = podrun::ssh::parse_agent_keys(message);
  if (keys && podrun::ssh::agent_keys_message(*keys) != message) std::abort();
  if (keys && podrun::ssh::is_signature_message(message)) std::abort();
  if (keys) {
    for (const podrun::ssh::AgentKey& key : *keys) look_at(key.blob);
  }
  look_at(message);
  return 0;
}
