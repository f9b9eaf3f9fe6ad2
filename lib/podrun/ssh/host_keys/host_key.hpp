// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podrun::ssh {

/// The public key of a host.
struct HostKey {
  std::string type;  ///< `ssh-ed25519`; `ssh-rsa` for every signature of an RSA key
  std::string blob;  ///< the bytes of RFC 4253 6.6, which begin with the type

  friend bool operator==(const HostKey&, const HostKey&) = default;
};

/// The key in a known_hosts line, a .pub file or the output of ssh_pki_export_pubkey_base64(); nothing if it
/// is incomplete, of a type unknown to OpenSSH, or a certificate.
std::optional<HostKey> read_host_key(std::string_view base64);

/// `SHA256:…`, as `ssh-keygen -l` prints it.
std::string fingerprint(const HostKey& key);

}  // namespace podrun::ssh
