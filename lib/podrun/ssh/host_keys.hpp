// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "podrun/link/link.hpp"
#include "podrun/ssh/known_hosts.hpp"
#include "podrun/ssh/settings.hpp"

namespace podrun {

/// A new key that the user has to judge (StrictHostKeyChecking=ask), and where it goes then.
struct HostKeyQuestion {
  std::string name;  ///< as it will stand in the file: `host`, `[host]:port` or the HostKeyAlias
  HostKey key;
  std::string file = {};  ///< empty: it is kept for this run only
  NameForm form = NameForm::plain;

  friend bool operator==(const HostKeyQuestion&, const HostKeyQuestion&) = default;
};

/// The name to look up, and its port.
struct HostKeyTarget {
  std::string host;
  std::uint16_t port;
};
/// HostKeyAlias stands for both, as in ssh.
HostKeyTarget host_key_target(const SshSettings& settings, const std::string& host);

struct HostKeyDecision {
  /// in_doubt: the key has changed, and StrictHostKeyChecking is no: only a login that gives nothing away.
  /// connect_again: the host is known by keys of another type; algorithms() asks for these now.
  enum class Kind { accepted, in_doubt, refused, connect_again };
  Kind kind = Kind::accepted;
  Failure failure = {};  ///< when refused or connect_again
};

/// The host keys of the run: the files with the known ones, what StrictHostKeyChecking makes of the others,
/// and the only writer of these files.
class HostKeys {
 public:
  /// Reads the files of these settings that have not been read yet; a missing one is empty. Throws UsageError
  /// when one cannot be read: call it before the run.
  void load(const SshSettings& settings);

  /// The host key algorithms to offer to `host`, those of the keys it is known by first.
  std::string algorithms(const SshSettings& settings, const std::string& host);

  /// Whether `key` is the one of `host` (as it is connected to) at settings.port. Stores a new key in the
  /// first of user_known_hosts if it is accepted at once. `search`: what search_for() gave, after its run().
  HostKeyDecision judge(const SshSettings& settings, const std::string& host, const HostKey& key,
                        const HashedSearch* search = nullptr);
  /// What judge() would be slow without: null for a key that is known, and with few hashed names.
  std::shared_ptr<HashedSearch> search_for(const SshSettings& settings, const std::string& host,
                                           const HostKey& key);

  /// The new keys that judge() refused with Retry::after_asking, each once.
  const std::vector<HostKeyQuestion>& questions() const { return questions_; }
  /// Stores what the user has agreed to: the next connection finds it known.
  void accept(const std::vector<HostKeyQuestion>& questions);

  /// Lines of the files that were passed over, for who wonders why a key is not known.
  std::vector<std::string> passed_over() const;

  /// Why new keys are kept for this run only, if a file could not be written; else empty.
  const std::string& warning() const { return warning_; }
  /// Called for each changed key that is accepted, once.
  void on_changed(std::function<void(const std::string& warning)> warn) { warn_ = std::move(warn); }

 private:
  struct File {
    std::shared_ptr<KnownHostsFile> index;
    bool writable = true;
  };

  File& file(const std::string& path);
  KnownHosts known_hosts(const SshSettings& settings);
  HostKeyDecision changed(const SshSettings& settings, const HostKeyTarget& target, const HostKey& key,
                          const KnownKey& known);
  HostKeyDecision unknown(const SshSettings& settings, const HostKeyTarget& target, const HostKey& key);
  void store(const HostKeyQuestion& key);

  std::map<std::string, File> files_;  ///< by path; the one without a path is never read nor written
  std::unordered_map<std::string, std::vector<std::string>>
      hashed_types_;  ///< by name, what judge() has found
  std::vector<HostKeyQuestion> questions_;
  std::string warning_;
  std::function<void(const std::string&)> warn_ = [](const std::string&) {};
  std::set<std::string> warnings_;
};

}  // namespace podrun
