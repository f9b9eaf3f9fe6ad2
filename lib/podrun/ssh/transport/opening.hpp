// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <libssh/libssh.h>

#include "podrun/link/failure.hpp"

// Reads the clear text of a server, before the keys are exchanged (RFC 4253 4.2 and 7.1). Untrusted.
namespace podrun::ssh {

/// The first line, if it is not the server's version: lines may come before that, or instead of it. At most
/// 200 bytes; empty if nothing has arrived.
std::string line_before_version(std::string_view opening);

/// The lists of algorithms in the server's SSH_MSG_KEXINIT: key exchange, host keys, ciphers, … Empty if that
/// has not arrived, or not as a whole.
std::vector<std::string_view> offered_algorithms(std::string_view opening);

/// Whether a name is in both lists.
bool have_common_name(std::string_view one, std::string_view other);

/// Says that none of the offered algorithms can be used, in libssh's words, and which libssh could, if this
/// one, `libssh_version`, is too old.
std::string no_match(std::string_view method, std::string_view offered, std::string_view ours,
                     std::string_view libssh_version);
/// The same for an error of libssh that says so; else nothing.
std::optional<std::string> explain_no_match(std::string_view error);

/// The first bytes of a connection. libssh tells nothing of lines before the version, and an end of the
/// connection can keep it from reading what the server has sent.
class Opening {
 public:
  /// Remembers podrun's own algorithms.
  void note(ssh_options_e option, const std::string& value);
  /// Looks at the bytes that libssh reads next. `received`: how many it has read.
  void peek(int descriptor, std::uint64_t received);
  std::string line_before_version() const { return ssh::line_before_version(bytes_); }
  /// Why the server may have ended the connection at this stage, as far as its own words tell.
  std::optional<link::Failure> early_end(link::Stage stage) const;

 private:
  std::string bytes_;                ///< until the lists of algorithms are read
  std::array<std::string, 4> ours_;  ///< in the order of SSH_MSG_KEXINIT
  std::string no_match_;             ///< the first list without a common name
  bool is_read_ = false;
};

}  // namespace podrun::ssh
