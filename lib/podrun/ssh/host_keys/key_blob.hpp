// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Keys as SSH sends them ("blobs"): a type, then the fields of that type (RFC 4253 section 6.6, RFC 8709,
// OpenSSH's PROTOCOL.certkeys). Pure.
namespace podrun::ssh {

/// Reads SSH's data types (RFC 4251 section 5) from the front of bytes, which must outlive it. After a read
/// beyond the end, this and all later results are empty and ok() is false.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte();
  std::uint32_t number();
  std::string_view string() { return bytes(number()); }
  std::string_view bytes(std::size_t size);

  bool ok() const { return ok_; }
  /// Whether all bytes were read and none were missing.
  bool complete() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::string wire_number(std::uint32_t number);
inline std::string wire_string(std::string_view bytes) {
  return wire_number(static_cast<std::uint32_t>(bytes.size())).append(bytes);
}

/// The blob in a line like `ssh-ed25519 AAAA… comment`; none if the first line that is not a comment lacks
/// one.
std::optional<std::string> read_public_key(std::string_view text);

/// Whether it is a key (not a certificate) of a type known to OpenSSH, complete and with nothing after it.
bool is_whole_key(std::string_view blob);
/// The type of a key, `ssh-ed25519`, or of a certificate, `ssh-ed25519-cert-v01@openssh.com`.
inline std::string_view key_type(std::string_view blob) { return WireReader(blob).string(); }
inline bool is_certificate(std::string_view blob) {
  return key_type(blob).ends_with("-cert-v01@openssh.com");
}
/// Whether the private key is on a security key (FIDO).
inline bool is_security_key(std::string_view blob) { return key_type(blob).starts_with("sk-"); }
/// Whether a certificate is for users, not for hosts.
bool is_user_certificate(std::string_view blob);
/// The key of a certificate; a plain key itself. Empty for an unknown type.
std::string plain_key(std::string_view blob);
/// The bits of an RSA key's modulus, also in a certificate; none for other types.
std::optional<std::size_t> rsa_bits(std::string_view blob);

/// The public key of a host.
struct HostKey {
  std::string type;  ///< `ssh-ed25519`; `ssh-rsa` for every signature of an RSA key
  std::string blob;  ///< the bytes of RFC 4253 6.6, which begin with the type

  friend bool operator==(const HostKey&, const HostKey&) = default;
};

/// The key in a known_hosts line, a .pub file or the output of ssh_pki_export_pubkey_base64(); none if it
/// is incomplete, of a type unknown to OpenSSH, or a certificate.
std::optional<HostKey> read_host_key(std::string_view base64);

/// `SHA256:…`, as `ssh-keygen -l` prints it.
std::string fingerprint(const HostKey& key);

}  // namespace podrun::ssh
