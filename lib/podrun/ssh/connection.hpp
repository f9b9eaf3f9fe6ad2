// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "podrun/base/event.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/auth/login.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/host_keys/host_keys.hpp"
#include "podrun/ssh/jump_hosts.hpp"
#include "podrun/ssh/ssh_world.hpp"
#include "podrun/ssh/transport/dial.hpp"
#include "podrun/ssh/transport/resolver.hpp"
#include "podrun/ssh/transport/ssh_session.hpp"
#include "podrun/ssh/transport/transport.hpp"
#include "podrun/ssh/transport/tunnel.hpp"

namespace podrun::ssh {

/// One connection to a host: its route (TCP, ProxyJump or ProxyCommand), key exchange and login, then its
/// session. Destroying it closes it.
class Connection {
 public:
  /// Keeps references to all three. `jump_host`: the name of the jump host that it leads to, if it does.
  Connection(const SshWorld& world, JumpHosts& jump_hosts, const SshSettings& settings,
             std::string jump_host = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Throws HostError.
  asio::awaitable<void> open();
  /// Null until open() has finished.
  const std::shared_ptr<SshSession>& session() const { return session_; }
  /// The local address of a plain connection; empty: unknown.
  const std::string& own_address() const { return own_address_; }
  /// The address of the host: of a plain connection, or the one that a jump host is asked for; empty:
  /// unknown.
  const std::string& host_address() const { return host_address_; }
  /// Says in this failure what open() is doing.
  void place(link::Failure& failure) const;
  /// Ends whatever is pending with this failure; without a stage it is at the present one.
  void stop(link::Failure failure);

 private:
  asio::awaitable<void> log_in();
  asio::awaitable<HostKeyDecision> greet();
  asio::awaitable<HostKeyDecision> judge(HostKey key);
  asio::awaitable<int> open_socket();

  const SshWorld& world_;
  JumpHosts& jump_hosts_;
  const SshSettings& settings_;
  const std::string jump_host_;
  Once opening_;
  link::Stage stage_ = link::Stage::connecting;  ///< used while there is no transport
  std::string own_address_;
  std::string host_address_;
  std::optional<Lookup> lookup_;
  std::optional<Dial> dial_;
  std::optional<Jump> jump_;
  std::optional<Tunnel> tunnel_;          ///< lives as long as the connection
  std::unique_ptr<Transport> transport_;  ///< until the login
  std::shared_ptr<Event> search_;         ///< a search for a key on another thread
  std::optional<Login> login_;
  std::shared_ptr<SshSession> session_;  ///< after it
  std::optional<link::Failure> stopped_;
};

}  // namespace podrun::ssh
