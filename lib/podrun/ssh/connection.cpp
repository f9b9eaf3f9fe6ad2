// SPDX-License-Identifier: Apache-2.0
// Opens one connection step by step: transport, key exchange, host key, login, session.
#include "podrun/ssh/connection.hpp"

#include <openssl/crypto.h>

#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <libssh/libssh.h>

#include "podrun/ssh/config/algorithms.hpp"

namespace podrun::ssh {
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
  const std::string compressions = settings.compression ? "zlib@openssh.com,none" : "none";
  transport.set(SSH_OPTIONS_COMPRESSION_C_S, compressions);
  transport.set(SSH_OPTIONS_COMPRESSION_S_C, compressions);
  transport.set(SSH_OPTIONS_PUBLICKEY_ACCEPTED_TYPES,
                configured_or(settings.public_key_algorithms, kPublicKeyAlgorithms));
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
  if (!read)
    throw link::HostError(
        {transport.stage(), link::Cause::protocol_error, "the server's key cannot be read"});
  return *read;
}

}  // namespace

Connection::Connection(const SshWorld& world, JumpHosts& jump_hosts, const SshSettings& settings,
                       std::string jump_host)
    : world_(world), jump_hosts_(jump_hosts), settings_(settings), jump_host_(std::move(jump_host)) {}

Connection::~Connection() { stop({.cause = link::Cause::abandoned}); }

asio::awaitable<void> Connection::open() {
  opening_.call("Connection::open() is called once");
  try {
    co_await log_in();
  } catch (const link::HostError&) {  // close it, so that the server does not keep waiting
    login_.reset();
    transport_.reset();
    tunnel_.reset();
    throw;
  }
  const ReadingPause reading_pause =
      reading_pause_for(ssh_get_openssh_version(transport_->session()), world_.orphan_timeout);
  session_ = std::make_shared<SshSession>(world_.executor, std::move(transport_),
                                          KeepAlive{settings_.alive_interval, settings_.alive_count_max},
                                          reading_pause);
  stage_ = link::Stage::connection;
  session_->start();
}

void Connection::place(link::Failure& failure) const {
  failure.jump_hosts.clear();
  failure.stage = transport_ ? transport_->stage() : stage_;
  if (jump_) jump_->place(failure);
}

void Connection::stop(link::Failure failure) {
  if (failure.stage == link::Stage::none) {
    place(failure);
    const std::string said = tunnel_ && !session_ ? tunnel_->said() : "";
    const std::string awaited = login_ ? login_->waits_for() : "";
    if (!said.empty()) failure.detail = fmt::format("ProxyCommand says: {}", said);
    if (!awaited.empty())
      failure.detail += fmt::format("{}no answer of the {}", said.empty() ? "" : "; ", awaited);
    const std::string text = login_       ? in_one_line(login_->server_text())
                             : transport_ ? transport_->said_before_version()
                                          : "";
    if (failure.cause == link::Cause::timed_out && !text.empty())
      failure.detail += fmt::format("{}the server says: {}", failure.detail.empty() ? "" : "; ", text);
  }
  if (!stopped_) stopped_ = failure;
  if (lookup_) lookup_->stop(failure);
  if (dial_) dial_->stop(failure);
  if (jump_) jump_->stop(failure);
  if (transport_) transport_->stop(failure);
  if (search_) search_->notify();
  if (login_) login_->stop();
  if (session_) session_->stop(failure);
}

/// All steps before the session.
asio::awaitable<void> Connection::log_in() {
  HostKeyDecision decision = co_await greet();
  if (decision.kind == HostKeyDecision::Kind::connect_again) decision = co_await greet();
  const bool in_doubt = decision.kind == HostKeyDecision::Kind::in_doubt;
  if (decision.kind != HostKeyDecision::Kind::accepted && !in_doubt) throw link::HostError(decision.failure);
  transport_->at_stage(link::Stage::login);
  // Not before: of a short host key libssh only says that its signature cannot be verified, HostKeys says
  // why.
  transport_->set(SSH_OPTIONS_RSA_MIN_SIZE, settings_.required_rsa_size);
  login_.emplace(*transport_, world_.credentials, settings_, in_doubt ? HostTrust::in_doubt : HostTrust::full,
                 Account{settings_.user, jump_host_});
  co_await login_->run();
  login_.reset();
}

/// Connects until the host's key is known.
asio::awaitable<HostKeyDecision> Connection::greet() {
  if (stopped_) throw link::HostError(*stopped_);
  transport_.reset();
  tunnel_.reset();
  const int descriptor = co_await open_socket();
  transport_ = std::make_unique<Transport>(world_.executor, descriptor,
                                           tunnel_ ? tunnel_->end() : Transport::TunnelEnd());
  transport_->set(SSH_OPTIONS_HOSTKEYS, world_.host_keys.algorithms(settings_, settings_.host_name));
  set_algorithms(*transport_, settings_);
  co_await transport_->connect();
  transport_->at_stage(link::Stage::host_key);
  co_return co_await judge(server_key(*transport_));
}

asio::awaitable<HostKeyDecision> Connection::judge(HostKey key) {
  const auto search = world_.host_keys.search_for(settings_, settings_.host_name, key);
  if (search) {
    search_ = std::make_shared<Event>(world_.executor);
    try {
      const auto work = [search] {
        search->run();
        OPENSSL_thread_stop();  // frees OpenSSL's data of this thread, which is never joined
      };
      world_.credentials.pool.run(work, [finished = search_] { finished->notify(); });
    } catch (const std::system_error& error) {  // no thread to be had
      throw link::HostError(
          {transport_->stage(), link::Cause::local_limit, error.what(), link::Retry::may_help});
    }
    co_await search_->wait();
    transport_->check();
  }
  co_return world_.host_keys.judge(settings_, settings_.host_name, key, search.get());
}

/// A connected socket to the host.
asio::awaitable<int> Connection::open_socket() {
  if (!settings_.proxy_command.empty()) {
    tunnel_.emplace(world_.executor, world_.run_proxy_command(settings_.proxy_command));
    co_return tunnel_->take_descriptor();
  }
  if (!settings_.proxy_jump.empty()) {
    jump_.emplace(jump_hosts_, settings_.proxy_jump);
    std::shared_ptr<link::Stream> stream = co_await jump_->forward(settings_.host_name, settings_.port);
    const std::string name = jump_->name();
    jump_.reset();
    tunnel_.emplace(world_.executor, std::move(stream), name);
    std::error_code is_a_name;
    const asio::ip::address literal = asio::ip::make_address(settings_.host_name, is_a_name);
    if (!is_a_name) host_address_ = literal.to_string();
    co_return tunnel_->take_descriptor();
  }
  stage_ = link::Stage::name_lookup;
  lookup_.emplace(world_.resolver, settings_.host_name, settings_.address_family);
  const Addresses addresses = co_await lookup_->get();
  stage_ = link::Stage::connecting;
  dial_.emplace(world_.executor, addresses, settings_.port, settings_.bind_address);
  asio::ip::tcp::socket socket = co_await dial_->connect();
  dial_.reset();
  std::error_code unknown;
  const asio::ip::tcp::endpoint ours = socket.local_endpoint(unknown);
  if (!unknown) own_address_ = ours.address().to_string();
  const asio::ip::tcp::endpoint theirs = socket.remote_endpoint(unknown);
  if (!unknown) host_address_ = theirs.address().to_string();
  co_return socket.release();
}

}  // namespace podrun::ssh
