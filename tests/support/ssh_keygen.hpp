// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "podrun/ssh/host_keys/key_blob.hpp"

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::test {

/// Runs ssh-keygen -q with these words in front; throws when it fails.
inline void ssh_keygen(Texts words) {
  words.insert(words.begin(), {"ssh-keygen", "-q"});
  const ShellRun run = run_words(words);
  if (run.exit_status != 0) throw std::runtime_error("ssh-keygen: " + run.output);
}

/// Makes a key pair, by default without a passphrase; returns the private file.
inline std::string make_key(const TempDirectory& directory, const std::string& name, const Texts& type,
                            const std::string& passphrase = "") {
  Texts words = {"-N", passphrase, "-C", name, "-f", directory.path(name), "-t"};
  words.insert(words.end(), type.begin(), type.end());
  ssh_keygen(words);
  return directory.path(name);
}

/// Signs `name`.pub, which gives `name`-cert.pub.
inline std::string make_certificate(const TempDirectory& directory, const std::string& authority,
                                    const std::string& name, const Texts& options = {}) {
  Texts words = {"-s", directory.path(authority), "-I", "test"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(directory.path(name + ".pub"));
  ssh_keygen(words);
  return directory.path(name + "-cert.pub");
}

/// The key or certificate in such a file.
inline std::string blob_in(const TempDirectory& directory, const std::string& name) {
  return ssh::read_public_key(directory.read(name)).value_or("no key in " + name);
}

}  // namespace podrun::test
