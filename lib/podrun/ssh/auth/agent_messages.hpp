// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The messages of the ssh-agent protocol, without their size: draft-miller-ssh-agent. Pure.
namespace podrun::ssh {

/// A key that an agent holds.
struct AgentKey {
  std::string blob;
  std::string comment;
  std::string held_as = {};  ///< the agent's blob for a certificate that it lacks; empty: blob

  friend bool operator==(const AgentKey&, const AgentKey&) = default;
};

/// Messages without content.
std::string agent_failure_message();
std::string agent_list_request();
bool is_agent_list_request(std::string_view message);

/// The keys in an agent's answer; nothing for any other message.
std::optional<std::vector<AgentKey>> parse_agent_keys(std::string_view message);
/// The answer with these keys.
std::string agent_keys_message(const std::vector<AgentKey>& keys);

struct AgentSignRequest {
  std::string blob;  ///< of the key
  std::string data;
  std::uint32_t flags = 0;
};
/// Nothing for any other message.
std::optional<AgentSignRequest> parse_agent_sign_request(std::string_view message);
std::string agent_sign_request_message(const AgentSignRequest& request);
/// Whether this is an agent's answer with a signature.
bool is_signature_message(std::string_view message);

}  // namespace podrun::ssh
