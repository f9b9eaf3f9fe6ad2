// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "podrun/base/event.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/connector.hpp"
#include "podrun/ssh/dial.hpp"
#include "podrun/ssh/host_keys.hpp"
#include "podrun/ssh/jump_hosts.hpp"
#include "podrun/ssh/login.hpp"
#include "podrun/ssh/resolver.hpp"
#include "podrun/ssh/session.hpp"
#include "podrun/ssh/settings.hpp"
#include "podrun/ssh/transport.hpp"
#include "podrun/ssh/tunnel.hpp"

namespace podrun {

/// One connection to a host: the way to it (TCP, ProxyJump or ProxyCommand), the key exchange, the login, and
/// then its session. Destroying it ends it.
class Connection {
 public:
  /// Keeps references to all three.
  Connection(const SshWorld& world, JumpHosts& jump_hosts, const SshSettings& settings);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Throws HostError. To be called once.
  asio::awaitable<void> open();
  /// Nothing before the end of open().
  const std::shared_ptr<Session>& session() const { return session_; }
  /// Of our end, where the connection is a plain one; empty: unknown.
  const std::string& own_address() const { return own_address_; }
  /// What open() is doing, for people.
  std::string stage() const;
  /// Ends whatever is pending with this failure; without a stage it is at the present one.
  void stop(Failure failure);

 private:
  asio::awaitable<void> log_in();
  asio::awaitable<HostKeyDecision> greet();
  asio::awaitable<HostKeyDecision> judge(HostKey key);
  asio::awaitable<int> find_way();

  const SshWorld& world_;
  JumpHosts& jump_hosts_;
  const SshSettings& settings_;
  std::string stage_ = "connecting";  ///< where there is no transport
  std::string own_address_;
  std::optional<Lookup> lookup_;
  std::optional<Dial> dial_;
  std::optional<Jump> jump_;
  std::optional<Tunnel> tunnel_;          ///< as long as the connection
  std::unique_ptr<Transport> transport_;  ///< until the login
  std::shared_ptr<Event> search_;         ///< for a key on another thread
  std::optional<Login> login_;
  std::shared_ptr<Session> session_;  ///< after it
  std::optional<Failure> stopped_;
};

}  // namespace podrun
