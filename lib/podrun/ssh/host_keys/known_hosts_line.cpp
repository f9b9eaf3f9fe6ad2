// SPDX-License-Identifier: Apache-2.0
// Reads one line of known_hosts, and hashes names as ssh does.
#include "podrun/ssh/host_keys/known_hosts_line.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config/pattern.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
namespace {

constexpr std::string_view kHashMagic = "|1|";

LineKind kind_of(std::string_view marker) {
  if (marker == "@revoked") return LineKind::revoked;
  return marker == "@cert-authority" ? LineKind::cert_authority : LineKind::bad;
}

std::optional<HashedName::Bytes> parse_bytes(std::string_view base64) {
  const std::optional<std::string> bytes = from_base64(base64);
  HashedName::Bytes result;
  if (!bytes || bytes->size() != result.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), result.begin());
  return result;
}

/// The hashed name; none if it is not complete.
std::optional<HashedName> parse_hashed_name(std::string_view names) {
  if (!names.starts_with(kHashMagic)) return std::nullopt;
  names.remove_prefix(kHashMagic.size());
  const std::size_t end = names.find('|');
  if (end == std::string_view::npos) return std::nullopt;
  const auto salt = parse_bytes(names.substr(0, end));
  const auto hash = parse_bytes(names.substr(end + 1));
  if (!salt || !hash) return std::nullopt;
  return HashedName{*salt, *hash};
}

std::string to_base64(const HashedName::Bytes& bytes) {
  return podrun::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string known_hosts_name(std::string_view host, std::uint16_t port) {
  return port == hosts::kSshPort ? lower_case(host) : fmt::format("[{}]:{}", lower_case(host), port);
}

KnownHostsLine parse_known_hosts_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  KnownHostsLine result;
  result.names = take_word(line);
  if (result.names.empty() || result.names.starts_with('#')) return {};
  result.kind = LineKind::key;
  if (result.names.starts_with('@')) {
    result.kind = kind_of(result.names);
    result.names = take_word(line);
  }
  result.type = take_word(line);
  result.key = take_word(line);
  const std::optional<HostKey> key = read_host_key(result.key);
  result.hashed = parse_hashed_name(result.names);
  const bool bad_name = result.names.starts_with('|') && !result.hashed;
  if (!key || key->type != result.type || bad_name) result.kind = LineKind::bad;
  return result;
}

NameHasher::NameHasher() : context_(nullptr, EVP_MAC_CTX_free) {
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac(
      EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr), EVP_MAC_free);
  context_.reset(mac ? EVP_MAC_CTX_new(mac.get()) : nullptr);
  std::string digest = "SHA1";
  const std::array<OSSL_PARAM, 2> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0), OSSL_PARAM_construct_end()};
  if (!context_ || EVP_MAC_CTX_set_params(context_.get(), parameters.data()) != 1) {
    throw std::runtime_error("OpenSSL has no HMAC-SHA1, which hashed known_hosts need");
  }
}

HashedName::Bytes NameHasher::hash(const HashedName::Bytes& salt, std::string_view name) {
  const bool new_salt = salt_ != salt;
  salt_ = salt;
  HashedName::Bytes result;
  std::size_t size = 0;
  if (EVP_MAC_init(context_.get(), new_salt ? salt.data() : nullptr, new_salt ? salt.size() : 0, nullptr) !=
          1 ||
      EVP_MAC_update(context_.get(), reinterpret_cast<const unsigned char*>(name.data()), name.size()) != 1 ||
      EVP_MAC_final(context_.get(), result.data(), &size, result.size()) != 1) {
    throw std::runtime_error("OpenSSL's HMAC-SHA1 failed");
  }
  return result;
}

bool NameHasher::matches(const HashedName& hashed, std::string_view name) {
  return hash(hashed.salt, name) == hashed.hash;
}

std::string NameHasher::hashed(std::string_view name) {
  HashedName::Bytes salt;
  if (RAND_bytes(salt.data(), static_cast<int>(salt.size())) != 1) {
    throw std::runtime_error("OpenSSL has no random bytes");
  }
  return fmt::format("{}{}|{}", kHashMagic, to_base64(salt), to_base64(hash(salt, name)));
}

bool names_match(std::string_view names, std::string_view name, NameHasher& hasher) {
  const std::optional<HashedName> hashed = parse_hashed_name(names);
  return hashed ? hasher.matches(*hashed, name) : matches_pattern_list(name, lower_case(names));
}

}  // namespace podrun::ssh
