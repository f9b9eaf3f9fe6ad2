// SPDX-License-Identifier: Apache-2.0
// Anything as an agent's answer: what is taken for a list of keys is exactly that, and each key can be looked
// at.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podrun/ssh/agent.hpp"
#include "podrun/ssh/key_blob.hpp"

namespace {

void look_at(const std::string& blob) {
  const std::string plain = podrun::plain_key(blob);
  if (!plain.empty() && podrun::plain_key(plain) != plain) std::abort();
  if (podrun::is_user_certificate(blob) && (!podrun::is_certificate(blob) || plain.empty())) std::abort();
  if (podrun::rsa_bits(blob).value_or(0) > blob.size() * 8) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string message(data, data + size);
  const auto keys = podrun::parse_agent_keys(message);
  if (keys && podrun::agent_keys_message(*keys) != message) std::abort();
  if (keys && podrun::is_signature_message(message)) std::abort();
  if (keys) {
    for (const podrun::AgentKey& key : *keys) look_at(key.blob);
  }
  look_at(message);
  return 0;
}
