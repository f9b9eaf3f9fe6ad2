// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace podrun::files {

/// BLAKE2b with 512 bits, as b2sum(1); SHA-256.
enum class DigestKind : std::uint8_t { blake2b, sha256 };

/// A digest over bytes that come in order. EVP_DigestInit(3)
class Digest {
 public:
  explicit Digest(DigestKind kind);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();
  void update(std::string_view bytes);
  /// In lower-case hex; the last call.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace podrun::files
