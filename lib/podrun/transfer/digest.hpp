// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace podrun::transfer {

/// BLAKE2b with 512 bits, as b2sum(1); SHA-256.
enum class DigestKind : std::uint8_t { blake2b, sha256 };

/// A digest over bytes in order. EVP_DigestInit(3)
class Digest {
 public:
  explicit Digest(DigestKind kind);
  void update(std::string_view bytes);
  /// The digest in lower-case hex. No call may follow.
  std::string finish();
  /// The bytes of the digest. No call may follow.
  std::string finish_bytes();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// Reads the output of sums.sh as it arrives. Throws HostError for a line that does not end.
class DigestLines {
 public:
  using Take = std::function<void(std::string_view digest)>;

  explicit DigestLines(Take take) : take_(std::move(take)) {}

  void feed(std::string_view bytes);

 private:
  const Take take_;
  std::string held_;  ///< the beginning of a line
};

}  // namespace podrun::transfer
