// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/host_key.hpp"

#include <openssl/evp.h>

#include <limits>
#include <stdexcept>

#include "podrun/ssh/key_blob.hpp"

namespace podrun {
namespace {

const unsigned char* unsigned_bytes(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* unsigned_bytes(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock adds a NUL
  EVP_EncodeBlock(unsigned_bytes(text), unsigned_bytes(bytes), static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > std::numeric_limits<int>::max() / 2) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(unsigned_bytes(bytes), unsigned_bytes(text), static_cast<int>(text.size()));
  if (size != static_cast<int>(bytes.size())) return std::nullopt;
  if (text.ends_with('=')) bytes.resize(bytes.size() - (text.ends_with("==") ? 2 : 1));
  if (to_base64(bytes) != text) return std::nullopt;  // EVP_DecodeBlock takes more than is base64
  return bytes;
}

std::optional<HostKey> read_host_key(std::string_view base64) {
  std::optional<std::string> blob = from_base64(base64);
  if (!blob) return std::nullopt;
  if (!is_whole_key(*blob)) return std::nullopt;
  std::string type(key_type(*blob));
  return HostKey{std::move(type), *std::move(blob)};
}

std::string fingerprint(const HostKey& key) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (EVP_Digest(key.blob.data(), key.blob.size(), unsigned_bytes(digest), &size, EVP_sha256(), nullptr) !=
      1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  std::string text = to_base64(std::string_view(digest).substr(0, size));
  text.erase(text.find_last_not_of('=') + 1);
  return "SHA256:" + text;
}

}  // namespace podrun
