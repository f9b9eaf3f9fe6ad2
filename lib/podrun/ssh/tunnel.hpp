// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"

namespace podrun {

/// A socket for an SSH session whose bytes go through a Stream: a proxy command, or a connection that a jump
/// host forwards. Destroying it abandons the stream.
class Tunnel {
 public:
  /// `name`: for people. Throws HostError when there is no descriptor left.
  Tunnel(const asio::any_io_executor& executor, std::shared_ptr<Stream> stream, std::string name);
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel();

  /// The session's end of it, for the caller to close. To be called once.
  int take_descriptor();
  /// Tells, also later, why the stream has ended, with what a proxy command said last; nothing while it runs,
  /// and where it just ended after some output. Known before the socket is at its end.
  std::function<std::optional<Failure>()> end() const;
  /// The last line that a proxy command has said on standard error.
  std::string said() const;

 private:
  class State;
  std::shared_ptr<State> state_;
  int descriptor_;  ///< the session's end, until it is taken
};

}  // namespace podrun
