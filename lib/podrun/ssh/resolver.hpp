// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/ip/address.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/settings.hpp"

namespace podrun {

using Addresses = std::vector<asio::ip::address>;

/// What getaddrinfo(3) says of a name: its addresses in its order, or an EAI_ error (EAI_SYSTEM: with errno).
struct NameAnswer {
  int error = 0;
  int system_error = 0;
  Addresses addresses = {};
};
/// Called on several threads at once.
using AskForName = std::function<NameAnswer(const std::string& name, AddressFamily family)>;

/// Asks the system; may block for long.
NameAnswer ask_system(const std::string& name, AddressFamily family);

/// Turns names into addresses, once for all that ask for the same name: what has been found is kept, what has
/// failed is asked for again by the next Lookup. The pool must outlive it and its Lookups.
class Resolver {
 public:
  Resolver(const asio::any_io_executor& executor, BlockingPool& pool, AskForName ask = ask_system);

 private:
  friend class Lookup;
  class State;
  std::shared_ptr<State> state_;
};

/// One host's wait for its addresses. Addresses as text (IPv4, IPv6, with %zone) are never asked for.
class Lookup {
 public:
  Lookup(const Resolver& resolver, std::string name, AddressFamily family);
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  ~Lookup();

  /// Each address once, at least one. Throws HostError. To be called once.
  asio::awaitable<Addresses> get();
  /// get() ends with this failure, at once; a later answer is kept for others.
  void stop(Failure failure);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace podrun
