// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_mac_ctx_st;

// One line of a known_hosts file: sshd(8), SSH_KNOWN_HOSTS FILE FORMAT.
namespace podrun::ssh {

/// The name of a host in known_hosts, in lower case: `host`, or `[host]:port` for a port other than 22.
std::string known_hosts_name(std::string_view host, std::uint16_t port);

/// `|1|SALT|HASH`: HASH is HMAC-SHA1 of the name, SALT its key.
struct HashedName {
  using Bytes = std::array<unsigned char, 20>;
  Bytes salt;
  Bytes hash;
};

/// nothing: blank or a comment; bad: ignored, as in ssh.
enum class LineKind { nothing, bad, key, revoked, cert_authority };

/// Views of the line.
struct KnownHostsLine {
  LineKind kind = LineKind::nothing;
  std::string_view names = {};  ///< a list of names and patterns, or one hashed name
  std::string_view type = {};
  std::string_view key = {};              ///< base64
  std::optional<HashedName> hashed = {};  ///< set if `names` is a hashed name
};

/// `line` has no newline.
KnownHostsLine parse_known_hosts_line(std::string_view line);

/// Compares names with hashed names: 0.5 us each, or half if the salt is the same as before.
class NameHasher {
 public:
  NameHasher();

  bool matches(const HashedName& hashed, std::string_view name);
  /// The name hashed with a new salt, as in a file.
  std::string hashed(std::string_view name);

 private:
  HashedName::Bytes hash(const HashedName::Bytes& salt, std::string_view name);

  std::unique_ptr<evp_mac_ctx_st, void (*)(evp_mac_ctx_st*)> context_;
  std::optional<HashedName::Bytes> salt_;  ///< the last one
};

/// Whether a line's names, patterns or hashed name match `name`, which is in lower case.
bool names_match(std::string_view names, std::string_view name, NameHasher& hasher);

}  // namespace podrun::ssh
