// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podrun {

/// The public key of a host.
struct HostKey {
  std::string type;  ///< `ssh-ed25519`; `ssh-rsa` whatever an RSA key signs with
  std::string blob;  ///< the bytes of RFC 4253 6.6; the type is the first thing in it

  friend bool operator==(const HostKey&, const HostKey&) = default;
};

/// The key in a known_hosts line, a .pub file or what ssh_pki_export_pubkey_base64() gives; nothing when it
/// is torn, of a type that OpenSSH does not have, or a certificate.
std::optional<HostKey> read_host_key(std::string_view base64);

/// `SHA256:…`, as `ssh-keygen -l` prints it.
std::string fingerprint(const HostKey& key);

/// The bytes in base64 with padding, as keys are written in text files.
std::string to_base64(std::string_view bytes);

/// Nothing unless to_base64() would give this very text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace podrun
