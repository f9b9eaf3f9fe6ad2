// SPDX-License-Identifier: Apache-2.0
// Offers the keys of the agent and of files until the server accepts one.
#include <openssl/crypto.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libssh/libssh.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/auth/login.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
namespace {

/// A libssh call that runs on the pool.
struct PoolCall {
  explicit PoolCall(const asio::any_io_executor& executor) : finished(executor) {}
  Event finished;
  int result = SSH_AUTH_ERROR;
};

SshKey public_key(const std::string& blob) {
  ssh_key key = nullptr;
  const std::string base64 = to_base64(blob);
  const ssh_keytypes_e type = ssh_key_type_from_name(std::string(key_type(blob)).c_str());
  if (is_certificate(blob)) {
    ssh_pki_import_cert_base64(base64.c_str(), type, &key);
  } else {
    ssh_pki_import_pubkey_base64(base64.c_str(), type, &key);
  }
  return {key, ssh_key_free};
}

bool is_rsa(const std::string& blob) { return rsa_bits(blob).has_value(); }

}  // namespace

asio::awaitable<Login::Answer> Login::offer_keys() {
  if (!settings_.takes_keys()) co_return Answer::refused;
  const std::vector<KeyCandidate> all = co_await candidates();
  for (auto candidate = all.begin(); candidate != all.end();) {
    std::vector<AgentKey> agents;  // consecutive ones are offered together
    while (candidate != all.end() && std::holds_alternative<AgentKey>(candidate->key) &&
           (agents.empty() || is_rsa(agents.front().blob) == is_rsa(candidate->blob)))
      agents.push_back(std::get<AgentKey>((candidate++)->key));
    Answer answer = Answer::refused;
    if (!agents.empty()) {
      answer = co_await offer_agents(std::move(agents));
    } else {
      answer = co_await offer(*std::get<std::shared_ptr<const Identity>>((candidate++)->key));
    }
    if (answer == Answer::accepted) {
      leave_agent();
      co_return answer;
    }
  }
  co_return Answer::refused;
}

/// The files were read before the run; a problem that appears later is a failure of this host.
IdentityList Login::find_identities() {
  try {
    return credentials_.identities.find(settings_);
  } catch (const UsageError& error) {
    throw link::HostError({transport_.stage(), link::Cause::configuration, error.what()});
  }
}

asio::awaitable<std::vector<KeyCandidate>> Login::candidates() {
  const IdentityList identities = find_identities();
  const bool has_files = std::any_of(identities.begin(), identities.end(), [](const auto& identity) {
    return identity->key || !identity->locked_file.empty();
  });
  if (agent_ && has_files) agent_->give_up_after(credentials_.agent_limit);
  std::vector<AgentKey> agent_keys;
  if (agent_) agent_keys = co_await agent_->list();
  transport_.check();
  KeyCandidates candidates =
      key_candidates(identities, std::move(agent_keys), settings_, credentials_.memory.last_accepted);
  drop_unusable(candidates.in_order);
  not_allowed_ = std::move(candidates.not_allowed);
  co_return std::move(candidates.in_order);
}

/// Removes the agent's keys that libssh cannot read: it would not offer any key after them.
void Login::drop_unusable(std::vector<KeyCandidate>& candidates) {
  std::erase_if(candidates, [this](const KeyCandidate& candidate) {
    const auto* key = std::get_if<AgentKey>(&candidate.key);
    const bool usable = !key || public_key(key->blob);
    if (!usable) unusable_.push_back(name_of(*key));
    return !usable;
  });
}

asio::awaitable<Login::Answer> Login::offer(const Identity& identity) {
  const std::uint64_t sent = transport_.packets_sent();
  offered_.push_back(identity.name);
  if (!identity.key) {
    co_await try_locked(identity);
    co_return Answer::refused;
  }
  const ssh_session session = transport_.session();
  const ssh_key key = identity.key.get();
  const int result = co_await transport_.finish(
      [&] { return ssh_userauth_publickey(session, settings_.user.c_str(), key); }, SSH_AUTH_AGAIN);
  note_unsent(sent, 1, is_rsa(identity.public_blob));
  co_return judge(result, identity.public_blob);
}

/// Finds out whether the server would accept a locked key, without its private part. Another key may work
/// without a question.
asio::awaitable<void> Login::try_locked(const Identity& identity) {
  const std::uint64_t sent = transport_.packets_sent();
  const ssh_session session = transport_.session();
  if (const SshKey key = public_key(identity.public_blob)) {
    const int result = co_await transport_.finish(
        [&] { return ssh_userauth_try_publickey(session, settings_.user.c_str(), key.get()); },
        SSH_AUTH_AGAIN);
    if (result == SSH_AUTH_ERROR) throw link::HostError(transport_.failure());
    note_unsent(sent, 1, is_rsa(identity.public_blob));
    if (result != SSH_AUTH_SUCCESS) co_return;
  }
  if (locked_.empty()) locked_ = identity.locked_file;
}

/// libssh offers all shown keys in turn, up to one that the agent fails to sign with.
asio::awaitable<Login::Answer> Login::offer_agents(std::vector<AgentKey> keys) {
  const std::uint64_t sent = transport_.packets_sent();
  const std::size_t count = keys.size();
  const bool are_rsa = is_rsa(keys.front().blob);
  for (const AgentKey& key : keys) offered_.push_back(name_of(key));
  if (agent_descriptor_ < 0) {
    agent_descriptor_ = agent_->release_descriptor();
    ssh_set_agent_socket(transport_.session(), agent_descriptor_);
  }
  while (!keys.empty() && !agent_->has_given_up()) {
    agent_->show(keys);
    int result = co_await ask_agent();
    while (result == SSH_AUTH_AGAIN) {
      co_await transport_.wait();
      result = co_await ask_agent();
    }
    if (result != SSH_AUTH_ERROR) {
      note_unsent(sent, count, are_rsa);
      co_return judge(result, agent_->last_asked());
    }
    const auto failed = std::find_if(
        keys.begin(), keys.end(), [this](const AgentKey& key) { return key.blob == agent_->last_asked(); });
    keys.erase(keys.begin(), failed == keys.end() ? failed : std::next(failed));
  }
  co_return Answer::refused;
}

/// One libssh call on the pool, because it waits for the agent, which may ask its user.
asio::awaitable<int> Login::ask_agent() {
  const auto call = std::make_shared<PoolCall>(co_await asio::this_coro::executor);
  const ssh_session session = transport_.session();
  const char* user = settings_.user.c_str();
  transport_.lend();
  const auto work = [=] {
    call->result = ssh_userauth_agent(session, user);
    OPENSSL_thread_stop();  // frees OpenSSL's data of this thread, which is never joined
  };
  try {
    credentials_.pool.run(work, [=] { call->finished.notify(); });
  } catch (const std::system_error& error) {  // no thread could be started
    transport_.take_back();
    throw link::HostError(
        {transport_.stage(), link::Cause::local_limit, error.what(), link::Retry::may_help});
  }
  co_await call->finished.wait();
  transport_.take_back();
  transport_.check();
  co_return call->result;
}

/// The session continues without the agent.
void Login::leave_agent() {
  if (agent_descriptor_ < 0) return;
  ssh_set_agent_socket(transport_.session(), SSH_INVALID_SOCKET);
  ::close(std::exchange(agent_descriptor_, -1));
}

/// libssh sends no RSA key to a server that accepts none of its signatures (server-sig-algs of RFC 8308), but
/// reports that the key was denied. `sent`: the packets before the last `count` keys were offered.
void Login::note_unsent(std::uint64_t sent, std::size_t count, bool are_rsa) {
  if (transport_.packets_sent() != sent) return;
  const auto first = offered_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<std::string>& unsent = are_rsa ? unsent_ : unusable_;
  unsent.insert(unsent.end(), first, offered_.end());
  offered_.erase(first, offered_.end());
}

void Login::ask_for_passphrase() {
  if (settings_.batch_mode) {
    throw link::HostError(
        {transport_.stage(), link::Cause::passphrase_needed,
         fmt::format("the key {} needs its passphrase, and BatchMode is yes (ssh-add it)", locked_)});
  }
  std::vector<std::string>& files = credentials_.memory.locked_files;
  if (std::find(files.begin(), files.end(), locked_) == files.end()) files.push_back(locked_);
  // This is also shown if the user gave no answer.
  const std::string what =
      fmt::format("the key {} needs its passphrase, which was not given (ssh-add it first)", locked_);
  throw link::HostError(
      {transport_.stage(), link::Cause::passphrase_needed, what, link::Retry::after_asking});
}

/// A list of the offered keys, and of the others with reasons.
std::string Login::offers() const {
  if (!settings_.takes_keys())
    return "no key is offered, by PreferredAuthentications or PubkeyAuthentication";
  std::vector<std::string> parts;
  if (!offered_.empty()) parts.push_back(fmt::format("offered: {}", fmt::join(offered_, ", ")));
  if (!unsent_.empty()) {
    parts.push_back(
        fmt::format("not offered: {}, since the server takes no RSA signature that podrun may make "
                    "(PubkeyAcceptedAlgorithms)",
                    fmt::join(unsent_, ", ")));
  }
  if (!unusable_.empty())
    parts.push_back(fmt::format("not offered: {}, which podrun cannot use", fmt::join(unusable_, ", ")));
  if (!not_allowed_.empty()) {
    parts.push_back(fmt::format("not offered: {}, by PubkeyAcceptedAlgorithms or RequiredRSASize",
                                fmt::join(not_allowed_, ", ")));
  }
  if (trust_ == HostTrust::in_doubt)
    parts.emplace_back("the agent is not used, since the host key has changed");
  if (parts.empty() && settings_.identity_files.empty()) {
    parts.emplace_back("there is no key to offer: --identity FILE, ssh-add, or ~/.ssh/id_ed25519");
  } else if (parts.empty()) {
    parts.push_back(fmt::format("there is no key to offer; IdentityFile is {}",
                                fmt::join(settings_.identity_files, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace podrun::ssh
