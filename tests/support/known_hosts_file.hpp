// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/base/text.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"
#include "podrun/ssh/host_keys/known_hosts_line.hpp"

namespace podrun::test {

/// A key that differs from those with other numbers; not a real one, but of its form.
inline ssh::HostKey test_key(unsigned number, const std::string& type = "ssh-ed25519") {
  const std::string bytes = ssh::wire_number(number) + std::string(28, 'x');
  if (type == "ssh-ed25519") return {type, ssh::wire_string(type) + ssh::wire_string(bytes)};
  const std::string modulus = '\x80' + std::string(255 - bytes.size(), 'y') + bytes;  // 2048 bits
  if (type == "ssh-rsa")
    return {type, ssh::wire_string(type) + ssh::wire_string("\1") + ssh::wire_string(modulus)};
  return {type, ssh::wire_string(type) + ssh::wire_string(type.substr(11)) + ssh::wire_string(bytes)};
}

/// `ssh-ed25519 AAAA…`, as after the names of a line.
inline std::string key_words(const ssh::HostKey& key) { return key.type + " " + to_base64(key.blob); }

inline std::string hashed_name(std::string_view name) { return ssh::NameHasher().hashed(name); }

}  // namespace podrun::test
