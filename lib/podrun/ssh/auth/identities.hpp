// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "podrun/ssh/auth/key_file.hpp"
#include "podrun/ssh/config/settings.hpp"

namespace podrun::ssh {

/// A key to log in with, or its certificate, which is offered as a separate key.
struct Identity {
  std::string name;         ///< the file's name for the user
  std::string public_blob;  ///< offered to servers; empty: unknown until it is unlocked
  SshKey key;               ///< signs; null: it is locked, or only an agent may have it
  std::string locked_file;  ///< the private file to unlock(); empty: not locked
};
using IdentityList = std::vector<std::shared_ptr<const Identity>>;

/// The user's key files, for all hosts of a run. Reads each once, and never asks for a passphrase.
class Identities {
 public:
  /// The default files are in `home`/.ssh.
  explicit Identities(std::string home);
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;
  ~Identities();

  /// The identities to offer with these settings, in order; a certificate comes before its key. Throws
  /// UsageError for a named file that is missing, unreadable, open to others or not a key.
  IdentityList find(const SshSettings& settings);
  /// Whether the passphrase is right; if so, all identities of the file get the key. Takes 0.1 s or more
  /// (bcrypt).
  bool unlock(const std::string& locked_file, const std::string& passphrase);
  /// The ignored files with reasons, each once.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The same for files that users rarely miss: DSA keys.
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  struct File;
  enum class Named { no, yes };  ///< whether the user named the file

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
  std::vector<std::string> ignored_;
};

}  // namespace podrun::ssh
