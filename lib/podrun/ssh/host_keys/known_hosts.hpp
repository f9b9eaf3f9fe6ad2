// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/ssh/host_keys/known_hosts_index.hpp"

// Whether the key of a host is known. Pure.
namespace podrun::ssh {

/// From the weakest to the strongest. other_type: only keys of other types are known; changed: another key of
/// this type is known.
enum class KeyVerdict { unknown, other_type, changed, known, revoked };

struct KeyCheck {
  KeyVerdict verdict = KeyVerdict::unknown;
  std::optional<KnownKey> entry = {};         ///< the line that decided; nothing if unknown
  std::vector<std::string> other_types = {};  ///< all of them, for the verdict other_type
};

class KnownHosts;

/// Compares a name with the hashed ones of all files, half a microsecond each.
class HashedSearch {
 public:
  HashedSearch(std::vector<std::shared_ptr<const KnownHostsFile>> files, std::string name)
      : files_(std::move(files)), name_(std::move(name)) {}

  /// Call once, on any thread.
  void run();

 private:
  friend class KnownHosts;
  std::vector<std::shared_ptr<const KnownHostsFile>> files_;
  std::string name_;
  std::vector<KnownKey> keys_;
};

/// The files that apply to a host.
class KnownHosts {
 public:
  explicit KnownHosts(std::vector<std::shared_ptr<const KnownHostsFile>> files) : files_(std::move(files)) {}

  /// As in ssh, a key is known under `[host]:port`, or else under `host`; an entry for `host` is no conflict
  /// for another port. Stricter than ssh: revoked under either name is revoked. Without a finished `search`
  /// it compares the hashed names here.
  KeyCheck check(std::string_view host, std::uint16_t port, const HostKey& key,
                 const HashedSearch* search = nullptr) const;
  /// A search that makes check() fast; null if it is fast without, as for a known key.
  std::shared_ptr<HashedSearch> search_for(std::string_view host, std::uint16_t port,
                                           const HostKey& key) const;

  /// The first @cert-authority line for the host, under the same names.
  std::optional<KnownKey> find_authority(std::string_view host, std::uint16_t port) const;

  /// The types of a host's keys from plain names and patterns only, which is fast; those under `host` if
  /// `[host]:port` has none.
  std::vector<std::string> known_types(std::string_view host, std::uint16_t port) const;

 private:
  std::optional<KnownKey> find(const std::string& name, const HostKey& key) const;
  std::optional<KnownKey> find_revoked(std::string_view host, std::uint16_t port, const HostKey& key) const;
  std::vector<KnownKey> plain_keys_of(const std::string& name) const;

  std::vector<std::shared_ptr<const KnownHostsFile>> files_;
};

}  // namespace podrun::ssh
