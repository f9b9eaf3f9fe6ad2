// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

[[noreturn]] void fail() { throw std::runtime_error("OpenSSL cannot compute a digest"); }

/// A digest and a path, in which each newline takes two bytes. Linux: PATH_MAX is 4096.
constexpr std::size_t kMaxLine = 16 * 1024;

}  // namespace

void Digest::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Digest::Digest(DigestKind kind) : context_(EVP_MD_CTX_new()) {
  const EVP_MD* const algorithm = kind == DigestKind::blake2b ? EVP_blake2b512() : EVP_sha256();
  if (!context_ || EVP_DigestInit_ex(context_.get(), algorithm, nullptr) != 1) fail();
}

void Digest::update(std::string_view bytes) {
  if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) fail();
}

std::string Digest::finish() {
  const std::string bytes = finish_bytes();
  const auto* const first = reinterpret_cast<const unsigned char*>(bytes.data());
  return fmt::format("{:02x}", fmt::join(first, first + bytes.size(), ""));
}

std::string Digest::finish_bytes() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) != 1) fail();
  return {bytes.begin(), bytes.begin() + size};
}

void DigestLines::feed(std::string_view bytes) {
  held_ += bytes;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = held_.find('\n', begin);
    if (end == held_.npos) break;
    std::string_view line = std::string_view(held_).substr(begin, end - begin);
    if (line.starts_with('\\')) line.remove_prefix(1);  // its name has a newline, see sha256sum(1)
    take_(take_part(line, ' '));
    begin = end + 1;
  }
  held_.erase(0, begin);
  if (held_.size() > kMaxLine)
    throw link::HostError({kCopying, link::Cause::unexpected_answer, "an endless line"});
}

}  // namespace podrun::transfer
