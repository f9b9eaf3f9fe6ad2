// SPDX-License-Identifier: Apache-2.0
// SSH links: one connection to a host, and more if the server allows too few channels on it.
#include "podrun/ssh/connector.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <asio/steady_timer.hpp>

#include "podrun/ssh/connection.hpp"
#include "podrun/ssh/jump_hosts.hpp"
#include "podrun/ssh/transport/channel.hpp"
#include "podrun/ssh/transport/ssh_session.hpp"

namespace podrun::ssh {
namespace {

/// Every login shell reads it the same way; /bin/sh replaces that shell.
std::string shell_command(link::Privilege privilege) {
  return privilege == link::Privilege::root ? "exec sudo -n /bin/sh" : "exec /bin/sh";
}

class SshLink : public link::Link {
 public:
  SshLink(const SshWorld& world, JumpHosts& jump_hosts, SshSettings settings)
      : world_(world), jump_hosts_(jump_hosts), settings_(std::move(settings)) {
    add_connection();
  }

  asio::awaitable<void> open() override { co_await connections_.front()->open(); }

  asio::awaitable<std::shared_ptr<link::Stream>> exec(link::Program program) override {
    std::shared_ptr<link::Stream> shell = co_await start(shell_command(program.privilege));
    co_await link::send_program(*shell, program);
    co_return shell;
  }

  asio::awaitable<std::shared_ptr<link::Stream>> forward(std::uint16_t port) override {
    const auto channel = std::make_shared<Channel>(connections_.front()->session());
    co_await channel->forward("127.0.0.1", port);
    co_return channel;
  }

  bool is_connected() const override {
    const std::shared_ptr<SshSession>& session = connections_.front()->session();
    return !stopped_ && session && !session->has_ended();
  }
  std::string own_address() const override { return connections_.front()->own_address(); }
  std::string host_address() const override { return connections_.front()->host_address(); }

  void stop(link::Failure failure) override {
    if (!stopped_) stopped_ = failure;
    for (const auto& connection : connections_) {
      connection->stop(failure);
      failure.stage = link::Stage::none;  // the others have each their own
    }
  }

 private:
  asio::awaitable<std::shared_ptr<link::Stream>> start(const std::string& text) {
    std::optional<link::Failure> refusal;
    drop_ended();
    for (std::size_t at = 0; at < connections_.size(); ++at) {
      const std::shared_ptr<SshSession> session = connections_[at]->session();
      if (!session) continue;  // another program is opening it
      try {
        co_return co_await session->exec(text);
      } catch (const link::HostError& error) {
        // A server that allows one command per connection may be closing a later connection because its
        // command has ended.
        const bool of_the_first = at == 0 && dynamic_cast<const ChannelRefused*>(&error) == nullptr;
        if (of_the_first) throw;
        if (!refusal) refusal = error.failure();
      }
    }
    co_return co_await start_elsewhere(text, *refusal);
  }

  std::shared_ptr<Connection> add_connection() {
    return connections_.emplace_back(std::make_shared<Connection>(world_, jump_hosts_, settings_));
  }

  /// Keeps the first connection even after its end, because calls on it report why it ended.
  void drop_ended() {
    const auto has_ended = [](const std::shared_ptr<Connection>& connection) {
      return connection->session() && connection->session()->has_ended();
    };
    connections_.erase(std::remove_if(connections_.begin() + 1, connections_.end(), has_ended),
                       connections_.end());
  }

  /// Uses a new connection, which stays open for later programs. Only this function limits its time.
  asio::awaitable<std::shared_ptr<link::Stream>> start_elsewhere(std::string text, link::Failure refusal) {
    if (stopped_) throw link::HostError(*stopped_);
    const std::shared_ptr<Connection> connection = add_connection();
    asio::steady_timer deadline(world_.executor, world_.connect_timeout);
    const auto waiting = std::make_shared<bool>(true);  // gone with this coroutine; a handler may still come
    deadline.async_wait([connection, limit = world_.connect_timeout,
                         waits = std::weak_ptr(waiting)](const std::error_code& error) {
      if (!error && waits.lock()) connection->stop({.cause = link::Cause::timed_out, .after = limit});
    });
    try {
      co_await connection->open();
      co_return co_await connection->session()->exec(std::move(text));
    } catch (const link::HostError& error) {
      if (!connection->session()) std::erase(connections_, connection);
      refusal.retry = error.failure().retry;
      refusal.elsewhere = {error.failure()};
      throw link::HostError(refusal);
    }
  }

  const SshWorld& world_;  // owned by the connector
  JumpHosts& jump_hosts_;
  const SshSettings settings_;
  std::vector<std::shared_ptr<Connection>> connections_;  ///< the first is open()'s
  std::optional<link::Failure> stopped_;
};

class SshConnector : public link::Connector {
 public:
  SshConnector(const SshWorld& world, std::function<SshSettings(const hosts::Host&)> settings_for)
      : world_(world), jump_hosts_(world_), settings_for_(std::move(settings_for)) {}

  std::unique_ptr<link::Link> link(const hosts::Host& host) override {
    return std::make_unique<SshLink>(world_, jump_hosts_, settings_for_(host));
  }

 private:
  SshWorld world_;
  JumpHosts jump_hosts_;
  std::function<SshSettings(const hosts::Host&)> settings_for_;
};

}  // namespace

std::unique_ptr<link::Connector> make_ssh_connector(
    const SshWorld& world, std::function<SshSettings(const hosts::Host&)> settings_for) {
  return std::make_unique<SshConnector>(world, std::move(settings_for));
}

}  // namespace podrun::ssh
