// SPDX-License-Identifier: Apache-2.0
#include "podrun/reach/host_addresses.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/ssh/host_keys/host_keys.hpp"
#include "podrun/ssh/host_keys/known_hosts_store.hpp"
#include "podrun/ssh/transport/resolver.hpp"

namespace podrun::reach {
namespace {

/// For name look-ups.
constexpr std::size_t kThreads = 16;
/// For all names together: people wait for it.
constexpr std::chrono::seconds kLookUpTime{2};

asio::awaitable<std::string> first_address(ssh::Lookup& lookup) {
  try {
    const ssh::Addresses addresses = co_await lookup.get();
    co_return addresses.front().to_string();
  } catch (const link::HostError&) {
    co_return "";
  }
}

/// The first address of each name, looked up together; empty where there is none `within` this time. An empty
/// name has none.
std::vector<std::string> look_up(const std::vector<std::string>& names, std::chrono::milliseconds within) {
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

}  // namespace

std::vector<std::string> addresses_of(const std::vector<hosts::Host>& hosts, ssh::SshConfig& config) {
  std::vector<std::string> names;
  for (const hosts::Host& host : hosts) {
    names.push_back(host.kind == hosts::HostKind::local ? "" : config.settings_for(host).host_name);
  }
  return look_up(names, kLookUpTime);
}

std::string forget_keys_of(const std::vector<hosts::Host>& hosts, ssh::SshConfig& config) {
  std::vector<std::pair<std::string, std::uint16_t>> names;
  std::set<std::string> files;
  for (const hosts::Host& host : hosts) {
    if (host.kind == hosts::HostKind::local) continue;
    const ssh::SshSettings settings = config.settings_for(host);
    files.insert(settings.user_known_hosts.begin(), settings.user_known_hosts.end());
    const ssh::HostKeyTarget target = ssh::host_key_target(settings, settings.host_name);
    names.emplace_back(target.host, target.port);
  }
  std::string text;
  for (const std::string& file : files) {
    const std::size_t removed = ssh::forget_host_keys(file, names);
    if (removed > 0) text += fmt::format("forgot {} key{} in {}\n", removed, removed == 1 ? "" : "s", file);
  }
  return text.empty() ? "no key of these hosts is stored\n" : text;
}

}  // namespace podrun::reach
