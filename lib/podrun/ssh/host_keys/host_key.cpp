// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/host_keys/host_key.hpp"

#include <openssl/evp.h>

#include <stdexcept>

#include "podrun/base/text.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
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
  if (EVP_Digest(key.blob.data(), key.blob.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  std::string text = to_base64(std::string_view(digest).substr(0, size));
  text.erase(text.find_last_not_of('=') + 1);
  return "SHA256:" + text;
}

}  // namespace podrun::ssh
