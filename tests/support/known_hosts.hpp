// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/ssh/host_key.hpp"
#include "podrun/ssh/key_blob.hpp"
#include "podrun/ssh/known_hosts_line.hpp"

namespace podrun::test {

/// A key that differs from those with other numbers; not a real one, but of its form.
inline HostKey test_key(unsigned number, const std::string& type = "ssh-ed25519") {
  const std::string bytes = wire_number(number) + std::string(28, 'x');
  if (type == "ssh-ed25519") return {type, wire_string(type) + wire_string(bytes)};
  const std::string modulus = '\x80' + std::string(255 - bytes.size(), 'y') + bytes;  // 2048 bits
  if (type == "ssh-rsa") return {type, wire_string(type) + wire_string("\1") + wire_string(modulus)};
  return {type, wire_string(type) + wire_string(type.substr(11)) + wire_string(bytes)};
}

/// `ssh-ed25519 AAAA…`, as after the names of a line.
inline std::string key_words(const HostKey& key) { return key.type + " " + to_base64(key.blob); }

inline std::string hashed_name(std::string_view name) { return NameHasher().hashed(name); }

}  // namespace podrun::test
