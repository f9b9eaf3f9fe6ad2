// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>

#include "podrun/link/link.hpp"

namespace podrun {

/// How long an address has before the next one is tried as well (RFC 8305, section 5).
inline constexpr std::chrono::milliseconds kConnectionAttemptDelay{250};

/// One host's TCP connection: to the first of its addresses that answers (RFC 8305, "happy eyeballs"). It
/// holds one descriptor for each address that is being tried. Destroying it abandons the attempts.
class Dial {
 public:
  /// `bind_address`: ours; empty for any. The addresses of the other family are then left out.
  Dial(const asio::any_io_executor& executor, const std::vector<asio::ip::address>& addresses,
       std::uint16_t port, const std::string& bind_address = {},
       std::chrono::milliseconds delay = kConnectionAttemptDelay);
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;
  ~Dial();

  /// A socket without Nagle's delay that fails when its peer has been silent for 30 s. Throws HostError. To
  /// be called once.
  asio::awaitable<asio::ip::tcp::socket> connect();
  /// connect() ends with this failure, at once.
  void stop(Failure failure);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace podrun
