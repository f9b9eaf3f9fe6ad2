// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/connector.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <asio/steady_timer.hpp>
#include <fmt/format.h>
#include <libssh/libssh.h>

#include "podrun/base/duration.hpp"
#include "podrun/ssh/algorithms.hpp"
#include "podrun/ssh/channel.hpp"
#include "podrun/ssh/dial.hpp"
#include "podrun/ssh/exec_text.hpp"
#include "podrun/ssh/session.hpp"
#include "podrun/ssh/transport.hpp"

namespace podrun {
namespace {

std::string configured_or(const std::string& configured, std::string_view ours) {
  return configured.empty() ? std::string(ours) : configured;
}

void set_algorithms(Transport& transport, const SshSettings& settings) {
  transport.set(SSH_OPTIONS_KEY_EXCHANGE, configured_or(settings.kex_algorithms, kKexAlgorithms));
  const std::string ciphers = configured_or(settings.ciphers, kCiphers);
  transport.set(SSH_OPTIONS_CIPHERS_C_S, ciphers);
  transport.set(SSH_OPTIONS_CIPHERS_S_C, ciphers);
  const std::string macs = configured_or(settings.macs, kMacs);
  transport.set(SSH_OPTIONS_HMAC_C_S, macs);
  transport.set(SSH_OPTIONS_HMAC_S_C, macs);
}

HostKey server_key(const Transport& transport) {
  ssh_key key = nullptr;
  char* base64 = nullptr;
  std::optional<HostKey> read;
  if (ssh_get_server_publickey(transport.session(), &key) == SSH_OK &&
      ssh_pki_export_pubkey_base64(key, &base64) == SSH_OK) {
    read = read_host_key(base64);
  }
  ssh_string_free_char(base64);
  ssh_key_free(key);
  if (!read) throw HostError({transport.stage(), "the server's key cannot be read"});
  return *read;
}

/// One connection: from the name look-up to the login, and then its session. Destroying it ends it.
class Connection {
 public:
  Connection(const SshWorld& world, const SshSettings& settings) : world_(world), settings_(settings) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { stop({"", "abandoned"}); }

  asio::awaitable<void> open() {
    try {
      co_await log_in();
    } catch (const HostError&) {  // the server does not wait for us any longer
      login_.reset();
      transport_.reset();
      throw;
    }
    const HoldBack hold_back =
        hold_back_for(ssh_get_openssh_version(transport_->session()), world_.orphan_timeout);
    session_ =
        std::make_shared<Session>(world_.executor, std::move(transport_),
                                  KeepAlive{settings_.alive_interval, settings_.alive_count_max}, hold_back);
    stage_ = "connection";
    session_->start();
  }

  /// Nothing before the end of open().
  Session* session() const { return session_.get(); }

  /// Ends whatever is pending with this failure; without a stage it is at the present one.
  void stop(Failure failure) {
    if (failure.stage.empty()) failure.stage = transport_ ? transport_->stage() : stage_;
    if (!stopped_) stopped_ = failure;
    if (lookup_) lookup_->stop(failure);
    if (dial_) dial_->stop(failure);
    if (transport_) transport_->stop(failure);
    if (login_) login_->stop();
    if (session_) session_->stop(failure);
  }

 private:
  /// Everything before the session.
  asio::awaitable<void> log_in() {
    lookup_.emplace(world_.resolver, settings_.host_name, settings_.address_family);
    const Addresses addresses = co_await lookup_->get();
    HostKeyDecision decision = co_await greet(addresses);
    if (decision.kind == HostKeyDecision::Kind::connect_again) decision = co_await greet(addresses);
    if (decision.kind != HostKeyDecision::Kind::accepted) throw HostError(decision.failure);
    transport_->at_stage("login");
    login_.emplace(*transport_, world_.credentials, settings_);
    co_await login_->run();
    login_.reset();
  }

  /// Connects, up to where the host's key is known.
  asio::awaitable<HostKeyDecision> greet(const Addresses& addresses) {
    if (stopped_) throw HostError(*stopped_);
    transport_.reset();
    stage_ = "connecting";
    dial_.emplace(world_.executor, addresses, settings_.port, settings_.bind_address);
    asio::ip::tcp::socket socket = co_await dial_->connect();
    transport_ = std::make_unique<Transport>(world_.executor, socket.release());
    dial_.reset();
    transport_->set(SSH_OPTIONS_HOSTKEYS, world_.host_keys.algorithms(settings_, settings_.host_name));
    set_algorithms(*transport_, settings_);
    co_await transport_->connect();
    transport_->at_stage("host key");
    co_return world_.host_keys.judge(settings_, settings_.host_name, server_key(*transport_));
  }

  const SshWorld& world_;
  const SshSettings& settings_;
  std::string stage_ = "name look-up";  ///< where there is no transport
  std::optional<Lookup> lookup_;
  std::optional<Dial> dial_;
  std::unique_ptr<Transport> transport_;  ///< until the login
  std::optional<Login> login_;
  std::shared_ptr<Session> session_;  ///< after it
  std::optional<Failure> stopped_;
};

class SshLink : public Link {
 public:
  SshLink(const SshWorld& world, SshSettings settings) : world_(world), settings_(std::move(settings)) {
    add_connection();
  }

  asio::awaitable<void> open() override { co_await connections_.front()->open(); }

  asio::awaitable<std::shared_ptr<Stream>> exec(Program program) override {
    const std::string text = exec_text(program);
    std::optional<Failure> refusal;
    for (std::size_t at = 0; at < connections_.size(); ++at) {
      Session* const session = connections_[at]->session();
      if (!session || (at > 0 && session->has_ended()))
        continue;  // being opened for another program, or lost
      try {
        co_return co_await session->exec(text);
      } catch (const ChannelRefused& error) {
        if (!refusal) refusal = error.failure();
      }
    }
    co_return co_await exec_elsewhere(text, *refusal);
  }

  void stop(Failure failure) override {
    if (!stopped_) stopped_ = failure;
    for (const auto& connection : connections_) {
      connection->stop(failure);
      failure.stage.clear();  // the others have each their own
    }
  }

 private:
  Connection& add_connection() {
    return *connections_.emplace_back(std::make_unique<Connection>(world_, settings_));
  }

  /// On a new connection, which stays for what may come. Nobody else limits the time for it.
  asio::awaitable<std::shared_ptr<Stream>> exec_elsewhere(std::string text, Failure refusal) {
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

  const SshWorld& world_;  // the connector's
  const SshSettings settings_;
  std::vector<std::unique_ptr<Connection>> connections_;  ///< the first is open()'s
  std::optional<Failure> stopped_;
};

class SshConnector : public Connector {
 public:
  SshConnector(const SshWorld& world, std::function<SshSettings(const Host&)> settings_for)
      : world_(world), settings_for_(std::move(settings_for)) {}

  std::unique_ptr<Link> link(const Host& host) override {
    return std::make_unique<SshLink>(world_, settings_for_(host));
  }

 private:
  SshWorld world_;
  std::function<SshSettings(const Host&)> settings_for_;
};

}  // namespace

std::unique_ptr<Connector> make_ssh_connector(const SshWorld& world,
                                              std::function<SshSettings(const Host&)> settings_for) {
  return std::make_unique<SshConnector>(world, std::move(settings_for));
}

}  // namespace podrun
