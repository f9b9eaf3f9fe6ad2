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

#include "podrun/ssh/host_key.hpp"
#include "podrun/ssh/known_hosts_line.hpp"

// An index of known_hosts files: loading 100,000 lines takes tens of milliseconds, a question microseconds,
// unless hashed names have to be compared. Pure.
namespace podrun {

/// Where a key stands.
struct KnownKey {
  std::string file;
  std::size_t line = 0;
  HostKey key;

  friend bool operator==(const KnownKey&, const KnownKey&) = default;
};

enum class NameForm { plain, hashed };

/// One file, asked by the names of known_hosts_name(). Lines that ssh would pass over are passed over here.
class KnownHostsFile {
 public:
  /// `path` is for messages.
  KnownHostsFile(std::string text, std::string path);
  KnownHostsFile(const KnownHostsFile&) = delete;
  KnownHostsFile& operator=(const KnownHostsFile&) = delete;

  const std::string& path() const { return path_; }
  std::size_t bad_lines() const { return bad_lines_; }
  /// Lines with @cert-authority: they are for certificates of hosts, which libssh does not have.
  std::size_t authorities() const { return authorities_.size(); }
  std::size_t hashed_lines() const { return hashed_.size(); }

  /// The line that has this very key for the name. Costs one HMAC for each hashed line with this key.
  std::optional<KnownKey> find(const std::string& name, const HostKey& key) const;
  std::optional<KnownKey> find_revoked(const std::string& name, const HostKey& key) const;
  /// The first @cert-authority line for the name.
  std::optional<KnownKey> find_authority(const std::string& name) const;
  /// All keys of the name in the order of the file, from plain names and patterns.
  std::vector<KnownKey> plain_keys_of(const std::string& name) const;
  /// Those from hashed names, for an HMAC each. Another thread may call it, since add() adds none.
  std::vector<KnownKey> hashed_keys_of(const std::string& name) const;

  /// Takes the key in, and returns the line to write, with its newline. A name that cannot stand in a file as
  /// it is gets hashed there.
  std::string add(const std::string& name, const HostKey& key, NameForm form);

 private:
  using Index = std::uint32_t;
  struct Entry {
    std::string_view key;  ///< base64
    std::size_t line;
  };
  struct NamedEntry {
    std::string_view names;  ///< patterns, or what a revoked key has
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
  std::deque<std::string> texts_;  ///< the file and what was added: all else is views of it
  std::size_t lines_ = 0;
  std::size_t bad_lines_ = 0;
  std::vector<Entry> entries_;                              ///< but for those with hashed names
  std::unordered_multimap<std::string_view, Index> plain_;  ///< by name
  std::vector<NamedEntry> patterns_;
  std::vector<NamedEntry> authorities_;
  std::vector<HashedEntry> hashed_;
  std::unordered_multimap<std::string_view, Index> hashed_by_key_;  ///< places in hashed_
  std::unordered_multimap<std::string_view, NamedEntry> revoked_;   ///< by key
  mutable NameHasher hasher_;
};

/// From the weakest to the strongest: other_type has only keys of other types than the one asked for, changed
/// has another one of its type.
enum class KeyVerdict { unknown, other_type, changed, known, revoked };

struct KeyCheck {
  KeyVerdict verdict = KeyVerdict::unknown;
  std::optional<KnownKey> entry = {};         ///< what the verdict rests on; nothing when unknown
  std::vector<std::string> other_types = {};  ///< all of them, when the verdict is that
};

class KnownHosts;

/// A name's comparison with the hashed ones of all files, half a microsecond each.
class HashedSearch {
 public:
  HashedSearch(std::vector<std::shared_ptr<const KnownHostsFile>> files, std::string name)
      : files_(std::move(files)), name_(std::move(name)) {}

  /// Once, on any thread.
  void run();

 private:
  friend class KnownHosts;
  std::vector<std::shared_ptr<const KnownHostsFile>> files_;
  std::string name_;
  std::vector<KnownKey> keys_;
};

/// The files that hold for a host.
class KnownHosts {
 public:
  explicit KnownHosts(std::vector<std::shared_ptr<const KnownHostsFile>> files) : files_(std::move(files)) {}

  /// ssh's rules: a key is known under `[host]:port` or, when nothing is there, under `host`; what stands
  /// under `host` is no conflict for another port. Stricter than ssh: revoked under either name is revoked.
  /// `search` has run; without it the hashed names are compared here.
  KeyCheck check(std::string_view host, std::uint16_t port, const HostKey& key,
                 const HashedSearch* search = nullptr) const;
  /// What check() needs to be fast; null when it is without, as for a key that is known.
  std::shared_ptr<HashedSearch> search_for(std::string_view host, std::uint16_t port,
                                           const HostKey& key) const;

  /// The first @cert-authority line for the host, by the same names.
  std::optional<KnownKey> find_authority(std::string_view host, std::uint16_t port) const;

  /// The types of a host's keys, as far as plain names and patterns tell, which is fast; those under `host`
  /// when there are none under `[host]:port`.
  std::vector<std::string> known_types(std::string_view host, std::uint16_t port) const;

 private:
  std::optional<KnownKey> find(const std::string& name, const HostKey& key) const;
  std::optional<KnownKey> find_revoked(std::string_view host, std::uint16_t port, const HostKey& key) const;
  std::vector<KnownKey> plain_keys_of(const std::string& name) const;

  std::vector<std::shared_ptr<const KnownHostsFile>> files_;
};

/// A file without the keys of some hosts.
struct ForgottenKeys {
  std::string text;
  std::size_t removed = 0;  ///< keys that one host or more of the list had
};

/// Takes the hosts' names out of their lines, and lines without a name left out of the text; all else stays
/// as it is, and so do patterns and lines with a marker. Costs an HMAC for each hashed line and host.
ForgottenKeys forget_keys(std::string_view text,
                          const std::vector<std::pair<std::string, std::uint16_t>>& hosts);

}  // namespace podrun
