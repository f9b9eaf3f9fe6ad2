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
#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/config/settings.hpp"

namespace podrun::ssh {

using Addresses = std::vector<asio::ip::address>;

/// The answer of getaddrinfo(3): addresses in its order, or an EAI_ error (EAI_SYSTEM: with errno).
struct NameAnswer {
  int error = 0;
  int system_error = 0;
  Addresses addresses = {};
};
/// May be called on several threads at once.
using AskForName = std::function<NameAnswer(const std::string& name, AddressFamily family)>;

/// Asks the system; may block for a long time.
NameAnswer ask_system(const std::string& name, AddressFamily family);

/// Resolves each name once for all who need it: keeps addresses, and asks again after a failure. The pool
/// must outlive the questions to it.
class Resolver {
 public:
  Resolver(const asio::any_io_executor& executor, BlockingPool& pool, AskForName ask = ask_system);

 private:
  friend class Lookup;
  class State;
  std::shared_ptr<State> state_;
};

/// One host's look-up. Addresses as text (IPv4, IPv6, with %zone) need no question.
class Lookup {
 public:
  Lookup(const Resolver& resolver, std::string name, AddressFamily family);
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
  ~Lookup();

  /// Returns each address once, at least one. Throws HostError.
  asio::awaitable<Addresses> get();
  /// Ends get() with this failure at once; a later answer is kept for others.
  void stop(link::Failure failure);

 private:
  class State;
  std::shared_ptr<State> state_;
  Once getting_;
};

}  // namespace podrun::ssh
