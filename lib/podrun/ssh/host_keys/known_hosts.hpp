// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "podrun/base/expect.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"
#include "podrun/ssh/host_keys/known_hosts_line.hpp"

// The keys of known_hosts files. Loading 100,000 lines takes tens of milliseconds, a look-up microseconds
// unless hashed names must be compared. Pure.
namespace podrun::ssh {

struct KnownKey {
  std::string file;
  std::size_t line = 0;
  HostKey key;

  friend bool operator==(const KnownKey&, const KnownKey&) = default;
};

enum class NameForm { plain, hashed };

/// One file, searched by the names of known_hosts_name(). Lines that ssh ignores are ignored.
class KnownHostsFile {
 public:
  /// `path` is for messages.
  KnownHostsFile(std::string text, std::string path);
  KnownHostsFile(const KnownHostsFile&) = delete;
  KnownHostsFile& operator=(const KnownHostsFile&) = delete;

  std::size_t bad_lines() const { return bad_lines_; }
  /// Lines with @cert-authority: they apply to host certificates, which libssh does not support.
  std::size_t authorities() const { return authorities_.size(); }
  std::size_t hashed_lines() const { return hashed_.size(); }

  /// The line with exactly this key for the name. Costs one HMAC for each hashed line with this key.
  std::optional<KnownKey> find(const std::string& name, const HostKey& key) const;
  std::optional<KnownKey> find_revoked(const std::string& name, const HostKey& key) const;
  std::optional<KnownKey> find_authority(const std::string& name) const;
  /// All keys of the name from plain names and patterns, in the order of the file.
  std::vector<KnownKey> plain_keys_of(const std::string& name) const;
  /// The keys from hashed names, one HMAC each. Another thread may call it, because add() adds no hashed
  /// names to the index.
  std::vector<KnownKey> hashed_keys_of(const std::string& name) const;

  /// Adds the key, and returns the line to write, with its newline. A name that a file cannot hold in plain
  /// form is hashed there.
  std::string add(const std::string& name, const HostKey& key, NameForm form);

 private:
  using Index = std::uint32_t;
  struct Entry {
    std::string_view key;  ///< base64
    std::size_t line;
  };
  struct NamedEntry {
    std::string_view names;  ///< patterns, or the names of a revoked key
    Index entry;
  };
  struct HashedEntry {
    HashedName name;
    Entry entry;
  };

  void add_lines(std::string_view text);
  void add_key(const KnownHostsLine& line);
  std::string_view in_lower_case(std::string_view names);
  KnownKey known_key(const Entry& entry) const;

  std::string path_;
  std::deque<std::string> texts_;  ///< the file and added lines; everything else has views of them
  std::size_t lines_ = 0;
  std::size_t bad_lines_ = 0;
  std::vector<Entry> entries_;                              ///< except those with hashed names
  std::unordered_multimap<std::string_view, Index> plain_;  ///< by name
  std::vector<NamedEntry> patterns_;
  std::vector<NamedEntry> authorities_;
  std::vector<HashedEntry> hashed_;
  std::unordered_multimap<std::string_view, Index> hashed_by_key_;  ///< indexes of hashed_
  std::unordered_multimap<std::string_view, NamedEntry> revoked_;   ///< by key
  mutable NameHasher hasher_;
};

/// From the weakest to the strongest. other_type: only keys of other types are known; changed: another key of
/// this type is known.
enum class KeyVerdict { unknown, other_type, changed, known, revoked };

struct KeyCheck {
  KeyVerdict verdict = KeyVerdict::unknown;
  std::optional<KnownKey> entry = {};         ///< the line that decided; none if unknown
  std::vector<std::string> other_types = {};  ///< all of them, for the verdict other_type
};

/// Compares a name with the hashed ones of all files, half a microsecond each.
class HashedSearch {
 public:
  HashedSearch(std::vector<std::shared_ptr<const KnownHostsFile>> files, std::string name)
      : files_(std::move(files)), name_(std::move(name)) {}

  /// Call once, on any thread.
  void run();
  const std::vector<KnownKey>& keys() const { return keys_; }

 private:
  std::vector<std::shared_ptr<const KnownHostsFile>> files_;
  std::string name_;
  std::vector<KnownKey> keys_;
  Once running_ = {};
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
  template <typename Find>
  std::optional<KnownKey> find_under_both_names(std::string_view host, std::uint16_t port, Find find) const;
  std::vector<KnownKey> plain_keys_of(const std::string& name) const;

  std::vector<std::shared_ptr<const KnownHostsFile>> files_;
};

/// A file after the keys of some hosts were removed.
struct ForgottenKeys {
  std::string text;
  std::size_t removed = 0;  ///< removed keys; a key of several of the hosts counts once
};

/// Removes the names of the hosts from the text, and lines without a remaining name. Patterns and lines with
/// a marker stay. Costs an HMAC for each hashed line and host.
ForgottenKeys forget_keys(std::string_view text,
                          const std::vector<std::pair<std::string, std::uint16_t>>& hosts);

}  // namespace podrun::ssh
