// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace podrun::files {

/// What a host can compute: b2sum (coreutils 8.26, BLAKE2b with 512 bits), else sha256sum.
enum class DigestKind : std::uint8_t { blake2b, sha256 };

/// A digest over bytes that come in order. EVP_DigestInit(3)
class Digest {
 public:
  explicit Digest(DigestKind kind);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();
  void update(std::string_view bytes);
  /// Goes on from here for itself.
  Digest fork() const;
  /// In lower-case hex; the last call.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace podrun::files
