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

#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"

namespace podrun::ssh {

/// The time for an address before the next one is tried as well (RFC 8305, section 5).
inline constexpr std::chrono::milliseconds kConnectionAttemptDelay{250};

/// Makes one host's TCP connection, to the first of its addresses that answers (RFC 8305, "happy eyeballs").
/// Uses one descriptor for each address being tried. Destroying it abandons the attempts.
class Dial {
 public:
  /// `bind_address`: the local address, empty for any. Addresses of the other family are then ignored.
  Dial(const asio::any_io_executor& executor, const std::vector<asio::ip::address>& addresses,
       std::uint16_t port, const std::string& bind_address = {},
       std::chrono::milliseconds delay = kConnectionAttemptDelay);
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;
  ~Dial();

  /// Returns a socket without Nagle's delay that fails when its peer has been silent for 30 s. Throws
  /// HostError.
  asio::awaitable<asio::ip::tcp::socket> connect();
  /// Ends connect() with this failure at once.
  void stop(link::Failure failure);

 private:
  class State;
  std::shared_ptr<State> state_;
  Once connecting_;
};

}  // namespace podrun::ssh
