// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "podrun/link/link.hpp"

// Interprets a server's messages about a channel. Pure.
namespace podrun::ssh {

/// An exit status has 32 bits in SSH, RFC 4254 6.10. A value that no process can have becomes 255.
link::Exited exited_with(int status_on_the_wire);

/// The name of a signal, RFC 4254 6.10. An unknown one counts as KILL.
link::Signaled signaled_by(std::string_view name);

/// Why a jump host does not forward, from libssh's `Channel opening failure: channel 43 error (2) Connection
/// refused`. `number`: libssh's number of the channel.
link::Failure forward_refused(std::string_view error, unsigned number);

}  // namespace podrun::ssh
