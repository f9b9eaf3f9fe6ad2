// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/base64.hpp"

#include <openssl/evp.h>

#include <limits>

namespace podrun {

void append_base64(std::string& text, std::string_view bytes) {
  const std::size_t before = text.size();
  text.resize(before + (bytes.size() + 2) / 3 * 4 + 1);  // EVP_EncodeBlock adds a NUL
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data() + before),
                  reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.pop_back();
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  append_base64(text, bytes);
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > std::numeric_limits<int>::max() / 2) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size != static_cast<int>(bytes.size())) return std::nullopt;
  if (text.ends_with('=')) bytes.resize(bytes.size() - (text.ends_with("==") ? 2 : 1));
  if (to_base64(bytes) != text) return std::nullopt;  // EVP_DecodeBlock also accepts text that is not base64
  return bytes;
}

}  // namespace podrun
