// SPDX-License-Identifier: Apache-2.0
#include "commands/host_addresses.hpp"

#include <cstddef>
#include <list>
#include <memory>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/ssh/transport/resolver.hpp"

namespace podrun::commands {
namespace {

constexpr std::size_t kThreads = 16;

asio::awaitable<std::string> first_address(ssh::Lookup& lookup) {
  try {
    const ssh::Addresses addresses = co_await lookup.get();
    co_return addresses.front().to_string();
  } catch (const link::HostError&) {
    co_return "";
  }
}

}  // namespace

std::vector<std::string> addresses_of(const std::vector<std::string>& names,
                                      std::chrono::milliseconds within) {
  std::vector<std::string> addresses(names.size());
  const auto context = std::make_shared<asio::io_context>(1);
  BlockingPool pool(context, kThreads);
  const ssh::Resolver resolver(context->get_executor(), pool);
  std::list<ssh::Lookup> lookups;
  std::size_t open = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    ++open;
    asio::co_spawn(*context, first_address(lookups.emplace_back(resolver, names[i], ssh::AddressFamily::any)),
                   [&, i](const std::exception_ptr&, std::string address) {
                     addresses[i] = std::move(address);
                     --open;
                   });
  }
  asio::steady_timer limit(*context, within);
  limit.async_wait([&lookups](const std::error_code& error) {
    if (error) return;
    for (ssh::Lookup& lookup : lookups) lookup.stop({link::Stage::name_lookup, link::Cause::timed_out});
  });
  while (open > 0) context->run_one();
  return addresses;
}

}  // namespace podrun::commands
