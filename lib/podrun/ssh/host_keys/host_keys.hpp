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
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/host_keys/known_hosts.hpp"

namespace podrun::ssh {

/// A new key that the user must judge (StrictHostKeyChecking=ask), and where to store it.
struct HostKeyQuestion {
  std::string name;  ///< as it will be in the file: `host`, `[host]:port` or the HostKeyAlias
  HostKey key;
  std::string file = {};  ///< empty: keep it for this run only
  NameForm form = NameForm::plain;

  friend bool operator==(const HostKeyQuestion&, const HostKeyQuestion&) = default;
};

/// The name to look up, and its port.
struct HostKeyTarget {
  std::string host;
  std::uint16_t port;
};
/// HostKeyAlias replaces both, as in ssh.
HostKeyTarget host_key_target(const SshSettings& settings, const std::string& host);

struct HostKeyDecision {
  /// in_doubt: the key has changed and StrictHostKeyChecking is no; only logins that reveal nothing are
  /// allowed. connect_again: the host is known by keys of another type, which algorithms() now asks for.
  enum class Kind { accepted, in_doubt, refused, connect_again };
  Kind kind = Kind::accepted;
  link::Failure failure = {};  ///< if refused or connect_again
};

/// The host keys of the run: known_hosts files, and the decisions of StrictHostKeyChecking about other keys.
/// The only writer of these files.
class HostKeys {
 public:
  /// Reads files of these settings that were not read yet; a missing one is empty. Throws UsageError if one
  /// cannot be read, so call it before the run.
  void load(const SshSettings& settings) { known_hosts(settings); }
  /// The files are read again: the user may have changed them in another terminal.
  void forget_files() {
    std::erase_if(files_, [](const auto& file) { return !file.first.empty(); });
  }

  /// The host key algorithms to offer to `host`, starting with those of its known keys.
  std::string algorithms(const SshSettings& settings, const std::string& host);

  /// Judges `key` of `host` (the name connected to) at settings.port. Stores a new key in the first of
  /// user_known_hosts if it is accepted at once. `search`: the result of search_for() after its run().
  HostKeyDecision judge(const SshSettings& settings, const std::string& host, const HostKey& key,
                        const HashedSearch* search = nullptr);
  /// A search that keeps judge() fast; null if it is not needed: a known key, or few hashed names.
  std::shared_ptr<HashedSearch> search_for(const SshSettings& settings, const std::string& host,
                                           const HostKey& key);

  /// The new keys that judge() refused with Retry::after_asking, each once.
  const std::vector<HostKeyQuestion>& questions() const { return questions_; }
  /// Stores keys that the user has accepted, so that the next connection knows them.
  void accept(const std::vector<HostKeyQuestion>& questions);

  /// The new keys that judge() has accepted and stored in a file since the last call.
  std::vector<HostKeyQuestion> take_new() { return std::exchange(new_, {}); }

  /// Ignored lines of the files, to explain why a key is not known.
  std::vector<std::string> ignored() const;

  /// Why new keys are kept for this run only, if a file could not be written; else empty.
  const std::string& warning() const { return warning_; }
  /// Sets a function to call once for each changed key that is accepted.
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

  std::map<std::string, File> files_;  ///< by path; the one without a path is never read or written
  std::unordered_map<std::string, std::vector<std::string>> hashed_types_;  ///< by name, as found by judge()
  std::vector<HostKeyQuestion> questions_;
  std::vector<HostKeyQuestion> new_;
  std::string warning_;
  std::function<void(const std::string&)> warn_ = [](const std::string&) {};
  std::set<std::string> warnings_;
};

}  // namespace podrun::ssh
