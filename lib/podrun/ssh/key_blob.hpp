// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Keys as SSH sends them, its "blobs": a type, then what that type says (RFC 4253 section 6.6, RFC 8709,
// OpenSSH's PROTOCOL.certkeys). Pure.
namespace podrun {

/// Takes SSH's data types (RFC 4251 section 5) off the front of bytes, which must outlive it. Where there are
/// too few, this and all that follows is empty and ok() is false.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte();
  std::uint32_t number();
  std::string_view string();
  std::string_view bytes(std::size_t size);

  bool ok() const { return ok_; }
  /// Everything was there, and nothing more.
  bool complete() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::string wire_number(std::uint32_t number);
std::string wire_string(std::string_view bytes);

/// The blob in a line like `ssh-ed25519 AAAA… comment`; nothing when the first line that is no comment is
/// none.
std::optional<std::string> read_public_key(std::string_view text);

/// Whether it is a key, not a certificate, of a type that OpenSSH has, with all that belongs to it and no
/// more.
bool is_whole_key(std::string_view blob);
/// The type of a key, `ssh-ed25519`; of a certificate `ssh-ed25519-cert-v01@openssh.com`.
std::string_view key_type(std::string_view blob);
bool is_certificate(std::string_view blob);
/// Whether its private half is in a security key (FIDO).
bool is_security_key(std::string_view blob);
/// Whether a certificate is for users, not for hosts.
bool is_user_certificate(std::string_view blob);
/// The key that a certificate is for; a key itself. Empty for an unknown type.
std::string plain_key(std::string_view blob);
/// The length of an RSA key's modulus, or of the one in a certificate; nothing for other types.
std::optional<std::size_t> rsa_bits(std::string_view blob);

}  // namespace podrun
