// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

struct ssh_key_struct;

namespace podrun {

/// A key of libssh's. Sessions may sign with it at the same time.
using SshKey = std::shared_ptr<ssh_key_struct>;

/// What is in a file that should hold a key.
struct KeyFile {
  enum class Kind { missing, bad, public_key, private_key };

  Kind kind = Kind::missing;
  std::string problem;      ///< for people: why it is missing or bad, or why it is not used
  bool outdated = false;    ///< the problem is that it is a DSA key, which is no news to its owner
  std::string public_blob;  ///< empty: not known before it is unlocked
  SshKey key;               ///< signs; null: it is locked, public, or a problem is named
  std::string locked;       ///< the text of a private key that needs a passphrase
};

/// Reads a private or public key or a certificate; never asks. A private key that others can read is bad.
KeyFile read_key_file(const std::string& path);

/// The key in the text of a locked file; null when the passphrase is wrong. Takes 0.1 s or more (bcrypt).
SshKey unlock_key(const std::string& text, const std::string& passphrase);
/// What libssh says is its public half; empty when it does not know.
std::string public_blob(const SshKey& key);
/// The key with a certificate for it, which is then what is offered; null when libssh cannot do that.
SshKey with_certificate(const SshKey& key, const std::string& certificate_path);

}  // namespace podrun
