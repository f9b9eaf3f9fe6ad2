// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/connector.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include "podrun/base/duration.hpp"
#include "podrun/link/shell_line.hpp"
#include "podrun/ssh/connection.hpp"
#include "podrun/ssh/jump_hosts.hpp"
#include "podrun/ssh/session.hpp"

namespace podrun {
namespace {

/// Read alike by every login shell. The shell that runs this is replaced.
std::string shell_command(Privilege privilege) {
  return privilege == Privilege::root ? "exec sudo -n /bin/sh" : "exec /bin/sh";
}

class SshLink : public Link {
 public:
  SshLink(const SshWorld& world, JumpHosts& jump_hosts, SshSettings settings)
      : world_(world), jump_hosts_(jump_hosts), settings_(std::move(settings)) {
    add_connection();
  }

  asio::awaitable<void> open() override { co_await connections_.front()->open(); }

  asio::awaitable<std::shared_ptr<Stream>> exec(Program program) override {
    std::shared_ptr<Stream> shell = co_await start(shell_command(program.privilege));
    co_await send_program(*shell, program);
    co_return shell;
  }

  std::string own_address() const override { return connections_.front()->own_address(); }

  void stop(Failure failure) override {
    if (!stopped_) stopped_ = failure;
    for (const auto& connection : connections_) {
      connection->stop(failure);
      failure.stage.clear();  // the others have each their own
    }
  }

 private:
  asio::awaitable<std::shared_ptr<Stream>> start(const std::string& text) {
    std::optional<Failure> refusal;
    for (std::size_t at = 0; at < connections_.size(); ++at) {
      const std::shared_ptr<Session> session = connections_[at]->session();
      if (!session || (at > 0 && session->has_ended()))
        continue;  // being opened for another program, or lost
      try {
        co_return co_await session->exec(text);
      } catch (const HostError& error) {
        // A server that takes one command on a connection may be ending a further one since its command has.
        const bool of_the_first = at == 0 && dynamic_cast<const ChannelRefused*>(&error) == nullptr;
        if (of_the_first) throw;
        if (!refusal) refusal = error.failure();
      }
    }
    co_return co_await start_elsewhere(text, *refusal);
  }

  Connection& add_connection() {
    return *connections_.emplace_back(std::make_unique<Connection>(world_, jump_hosts_, settings_));
  }

  /// On a new connection, which stays for what may come. Nobody else limits the time for it.
  asio::awaitable<std::shared_ptr<Stream>> start_elsewhere(std::string text, Failure refusal) {
    if (stopped_) throw HostError(*stopped_);
    Connection& connection = add_connection();
    asio::steady_timer deadline(world_.executor, world_.connect_timeout);
    const std::string too_late = "timed out after " + format_duration(world_.connect_timeout);
    const auto waiting = std::make_shared<bool>(true);  // a handler may be on its way behind the end of this
    deadline.async_wait(
        [&connection, too_late, waits = std::weak_ptr(waiting)](const std::error_code& error) {
          if (!error && waits.lock()) connection.stop({"", too_late});
        });
    try {
      co_await connection.open();
      co_return co_await connection.session()->exec(std::move(text));
    } catch (const HostError& error) {
      const Failure& failure = error.failure();
      throw HostError(
          {refusal.stage,
           fmt::format("{}; on another connection: {}: {}", refusal.what, failure.stage, failure.what),
           failure.retry});
    }
  }

  const SshWorld& world_;  // these are the connector's
  JumpHosts& jump_hosts_;
  const SshSettings settings_;
  std::vector<std::unique_ptr<Connection>> connections_;  ///< the first is open()'s
  std::optional<Failure> stopped_;
};

class SshConnector : public Connector {
 public:
  SshConnector(const SshWorld& world, std::function<SshSettings(const Host&)> settings_for)
      : world_(world), jump_hosts_(world_), settings_for_(std::move(settings_for)) {}

  std::unique_ptr<Link> link(const Host& host) override {
    return std::make_unique<SshLink>(world_, jump_hosts_, settings_for_(host));
  }

 private:
  SshWorld world_;
  JumpHosts jump_hosts_;
  std::function<SshSettings(const Host&)> settings_for_;
};

}  // namespace

std::unique_ptr<Connector> make_ssh_connector(const SshWorld& world,
                                              std::function<SshSettings(const Host&)> settings_for) {
  return std::make_unique<SshConnector>(world, std::move(settings_for));
}

}  // namespace podrun
