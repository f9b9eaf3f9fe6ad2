// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

struct ssh_key_struct;

namespace podrun::ssh {

/// A key of libssh. Several sessions may sign with it at the same time.
using SshKey = std::shared_ptr<ssh_key_struct>;

/// The content of a key file.
struct KeyFile {
  enum class Kind { missing, bad, public_key, private_key };

  Kind kind = Kind::missing;
  std::string problem;      ///< for people: why it is missing, bad or not used
  bool outdated = false;    ///< the problem is a DSA key, which its owner knows
  std::string public_blob;  ///< empty: unknown until it is unlocked
  SshKey key;               ///< signs; null: locked, public, or there is a problem
  std::string locked;       ///< the text of a private key that needs a passphrase
};

/// Reads a private or public key or a certificate; never asks. A private key that others can read is bad.
KeyFile read_key_file(const std::string& path);

/// The key in the text of a locked file; null if the passphrase is wrong. Takes 0.1 s or more (bcrypt).
SshKey unlock_key(const std::string& text, const std::string& passphrase);
/// The public key by libssh; empty if libssh does not know it.
std::string public_blob(const SshKey& key);
/// The key combined with its certificate, which is then offered; null if libssh cannot do that.
SshKey with_certificate(const SshKey& key, const std::string& certificate_path);

}  // namespace podrun::ssh
