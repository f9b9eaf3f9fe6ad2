// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "podrun/ssh/key_file.hpp"
#include "podrun/ssh/settings.hpp"

namespace podrun {

/// A key to log in with, or its certificate, which is offered as a key of its own.
struct Identity {
  std::string name;         ///< the file, as the user knows it
  std::string public_blob;  ///< what a server is offered; empty: not known before it is unlocked
  SshKey key;               ///< signs; null: locked, or only an agent may have it
  std::string locked_file;  ///< the private file, while that is locked: for unlock()
};
using IdentityList = std::vector<std::shared_ptr<const Identity>>;

/// The user's key files, for all hosts of a run. Each is read once; nothing is ever asked for.
class Identities {
 public:
  /// The default files are those in `home`/.ssh.
  explicit Identities(std::string home);
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;
  ~Identities();

  /// What to offer a host with these settings, in this order: a certificate stands before its key. Throws
  /// UsageError for a file that is named there and is missing, unreadable, open to others or no key.
  IdentityList find(const SshSettings& settings);
  /// Whether the passphrase is right; then the identities that find() gave, and gives, have the key. Takes
  /// 0.1 s or more (bcrypt).
  bool unlock(const std::string& locked_file, const std::string& passphrase);
  /// What was passed over and why, each once.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The same, of what hardly anybody misses: DSA keys.
  const std::vector<std::string>& passed_over() const { return passed_over_; }

 private:
  struct File;
  enum class Named { no, yes };  ///< by the user

  static Named must_be_there(const SshSettings& settings, const std::string& path);
  std::shared_ptr<File> load(const std::string& path);
  std::shared_ptr<File> read(const std::string& path);
  const KeyFile& read_certificate(const std::string& path);
  std::shared_ptr<const Identity> certificate(File& file, const std::string& path);
  IdentityList with_agents_certificates(IdentityList list, const SshSettings& settings);
  void report(const char* option, const KeyFile& content, Named named);

  std::string home_;
  std::map<std::string, std::shared_ptr<File>> files_;
  std::map<std::string, KeyFile> certificates_;
  std::vector<std::string> warnings_;
  std::vector<std::string> passed_over_;
};

}  // namespace podrun
