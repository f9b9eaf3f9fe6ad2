// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/connector.hpp"

#include <optional>
#include <utility>

#include <libssh/libssh.h>

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

class SshLink : public Link {
 public:
  SshLink(const SshWorld& world, SshSettings settings) : world_(world), settings_(std::move(settings)) {}
  SshLink(const SshLink&) = delete;
  SshLink& operator=(const SshLink&) = delete;
  ~SshLink() override { stop({"", "abandoned"}); }

  asio::awaitable<void> open() override {
    try {
      co_await log_in();
    } catch (const HostError&) {  // the server does not wait for us any longer
      login_.reset();
      transport_.reset();
      throw;
    }
    session_ = std::make_shared<Session>(world_.executor, std::move(transport_),
                                         KeepAlive{settings_.alive_interval, settings_.alive_count_max});
    session_->start();
  }

  asio::awaitable<std::shared_ptr<Stream>> exec(Program program) override {
    std::string text = exec_text(program);
    co_return co_await session_->exec(std::move(text));
  }

  void stop(Failure failure) override {
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

  const SshWorld& world_;  // the connector's
  const SshSettings settings_;
  std::string stage_ = "name look-up";  ///< before there is a transport
  std::optional<Lookup> lookup_;
  std::optional<Dial> dial_;
  std::unique_ptr<Transport> transport_;  ///< until the login
  std::optional<Login> login_;
  std::shared_ptr<Session> session_;  ///< after it
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
