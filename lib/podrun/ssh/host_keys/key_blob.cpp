// SPDX-License-Identifier: Apache-2.0
// Reads keys in SSH's wire format, and checks whether they are complete.
#include "podrun/ssh/host_keys/key_blob.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "podrun/base/text.hpp"

namespace podrun::ssh {
namespace {

/// A key type and the number of strings after it.
struct KeyType {
  std::string_view name;
  std::string_view certificate;
  std::size_t fields;
};
constexpr std::array<KeyType, 8> kKeyTypes = {{
    {"ssh-ed25519", "ssh-ed25519-cert-v01@openssh.com", 1},
    {"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256-cert-v01@openssh.com", 2},
    {"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384-cert-v01@openssh.com", 2},
    {"ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521-cert-v01@openssh.com", 2},
    {"ssh-rsa", "ssh-rsa-cert-v01@openssh.com", 2},
    {"ssh-dss", "ssh-dss-cert-v01@openssh.com", 4},
    {"sk-ssh-ed25519@openssh.com", "sk-ssh-ed25519-cert-v01@openssh.com", 2},
    {"sk-ecdsa-sha2-nistp256@openssh.com", "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", 3},
}};

/// Skips the type and a certificate's nonce; the key's own strings follow.
const KeyType* start_fields(WireReader& reader) {
  const std::string_view name = reader.string();
  for (const KeyType& type : kKeyTypes) {
    if (name == type.certificate) reader.string();
    if (name == type.certificate || name == type.name) return &type;
  }
  return nullptr;
}

}  // namespace

std::string_view WireReader::bytes(std::size_t size) {
  if (!ok_ || size > rest_.size()) {
    ok_ = false;
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::uint8_t WireReader::byte() {
  const std::string_view taken = bytes(1);
  return ok_ ? static_cast<std::uint8_t>(taken[0]) : std::uint8_t{0};
}

std::uint32_t WireReader::number() {
  std::uint32_t number = 0;
  for (const char c : bytes(sizeof number)) number = number << 8U | static_cast<unsigned char>(c);
  return number;
}

std::string wire_number(std::uint32_t number) {
  std::string bytes;
  for (unsigned shift = 32; shift > 0;) {
    shift -= 8;
    bytes += static_cast<char>(number >> shift & 0xffU);
  }
  return bytes;
}

std::optional<std::string> read_public_key(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view type = take_word(line);
    if (type.empty() || type.front() == '#') continue;
    std::optional<std::string> blob = from_base64(take_word(line));
    if (!blob || key_type(*blob) != type) return std::nullopt;
    return blob;
  }
  return std::nullopt;
}

bool is_user_certificate(std::string_view blob) {
  constexpr std::size_t kSerialSize = 8;
  constexpr std::uint32_t kUser = 1;
  WireReader reader(blob);
  const KeyType* type = start_fields(reader);
  if (!type || !is_certificate(blob)) return false;
  for (std::size_t field = 0; field < type->fields; ++field) reader.string();
  reader.bytes(kSerialSize);
  return reader.number() == kUser;
}

bool is_whole_key(std::string_view blob) {
  WireReader reader(blob);
  const KeyType* type = start_fields(reader);
  if (!type || is_certificate(blob)) return false;
  for (std::size_t field = 0; field < type->fields; ++field) {
    if (reader.string().empty()) return false;
  }
  return reader.complete();
}

std::string plain_key(std::string_view blob) {
  WireReader reader(blob);
  const KeyType* type = start_fields(reader);
  if (!type) return {};
  std::string key = wire_string(type->name);
  for (std::size_t field = 0; field < type->fields; ++field) key += wire_string(reader.string());
  return reader.ok() ? key : std::string();
}

std::optional<std::size_t> rsa_bits(std::string_view blob) {
  WireReader reader(blob);
  const KeyType* type = start_fields(reader);
  if (!type || type->name != "ssh-rsa") return std::nullopt;
  reader.string();  // the exponent
  std::string_view modulus = reader.string();
  while (!modulus.empty() && modulus.front() == '\0') modulus.remove_prefix(1);
  if (modulus.empty()) return 0;
  return (modulus.size() - 1) * 8 + std::bit_width(static_cast<unsigned char>(modulus.front()));
}

std::optional<HostKey> read_host_key(std::string_view base64) {
  std::optional<std::string> blob = from_base64(base64);
  if (!blob || !is_whole_key(*blob)) return std::nullopt;
  std::string type(key_type(*blob));
  return HostKey{std::move(type), *std::move(blob)};
}

std::string fingerprint(const HostKey& key) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (EVP_Digest(key.blob.data(), key.blob.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  std::string text = to_base64(std::string_view(digest).substr(0, size));
  text.erase(text.find_last_not_of('=') + 1);
  return "SHA256:" + text;
}

}  // namespace podrun::ssh
