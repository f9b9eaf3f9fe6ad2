// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"

namespace podrun::ssh {

/// A socket for an SSH session whose bytes go through a Stream: a proxy command, or a connection that a jump
/// host forwards. Destroying it abandons the stream.
class Tunnel {
 public:
  /// `jump_host`: the name of the one that forwards; empty: a proxy command. Throws HostError when there is
  /// no descriptor left.
  Tunnel(const asio::any_io_executor& executor, std::shared_ptr<link::Stream> stream,
         std::string jump_host = {});
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel();

  /// Returns the session's end, which the caller closes.
  int take_descriptor();
  /// Returns a function that tells, also later, why the stream ended, with a proxy command's last message.
  /// None while it runs, or if it just ended after some output. Known before the socket ends.
  std::function<std::optional<link::Failure>()> end() const;
  /// The last line of a proxy command on standard error.
  std::string said() const;

 private:
  class State;
  std::shared_ptr<State> state_;
  int descriptor_;  ///< the session's end, until it is taken
};

}  // namespace podrun::ssh
