// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/auth/agent_messages.hpp"

#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
namespace {

enum MessageType : char {
  kFailure = 5,
  kRequestKeys = 11,
  kKeys = 12,
  kSignRequest = 13,
  kSignature = 14,
};

}  // namespace

std::string agent_failure_message() { return {kFailure}; }

std::string agent_list_request() { return {kRequestKeys}; }

bool is_agent_list_request(std::string_view message) { return message.starts_with(kRequestKeys); }

std::optional<std::vector<AgentKey>> parse_agent_keys(std::string_view message) {
  WireReader reader(message);
  if (reader.byte() != kKeys) return std::nullopt;
  std::vector<AgentKey> keys;
  for (std::uint32_t left = reader.number(); left > 0 && reader.ok(); --left) {
    const std::string_view blob = reader.string();
    keys.push_back({std::string(blob), std::string(reader.string())});
  }
  if (!reader.complete()) return std::nullopt;
  return keys;
}

std::string agent_keys_message(const std::vector<AgentKey>& keys) {
  std::string message{kKeys};
  message += wire_number(static_cast<std::uint32_t>(keys.size()));
  for (const AgentKey& key : keys) message += wire_string(key.blob) + wire_string(key.comment);
  return message;
}

std::optional<AgentSignRequest> parse_agent_sign_request(std::string_view message) {
  WireReader reader(message);
  if (reader.byte() != kSignRequest) return std::nullopt;
  AgentSignRequest request;
  request.blob = reader.string();
  request.data = reader.string();
  request.flags = reader.number();
  if (!reader.complete()) return std::nullopt;
  return request;
}

std::string agent_sign_request_message(const AgentSignRequest& request) {
  std::string message{kSignRequest};
  message += wire_string(request.blob) + wire_string(request.data) + wire_number(request.flags);
  return message;
}

bool is_signature_message(std::string_view message) {
  WireReader reader(message);
  const bool says_so = reader.byte() == kSignature;
  WireReader signature(reader.string());
  const bool typed = !signature.string().empty();
  return says_so && typed && reader.complete();
}

}  // namespace podrun::ssh
