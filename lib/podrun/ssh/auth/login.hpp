// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/auth/identities.hpp"
#include "podrun/ssh/auth/key_candidates.hpp"
#include "podrun/ssh/auth/login_memory.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/transport/transport.hpp"

namespace podrun::ssh {

/// Shared by the logins of a run.
struct Credentials {
  Identities& identities;
  LoginMemory& memory;
  Agents& agents;
  BlockingPool& pool;  ///< for libssh calls that wait for the agent, which may ask its user
  /// How long a login waits for an agent if there are key files as well.
  std::chrono::milliseconds agent_limit{5'000};
};

/// in_doubt: the host's key has changed, so no agent and no password is used. Keys of files are, because a
/// signature is only valid for one session (RFC 4252 section 7).
enum class HostTrust { full, in_doubt };

/// One login by public key, else by password. RFC 4252, RFC 4256
class Login {
 public:
  Login(Transport& transport, Credentials& credentials, const SshSettings& settings, HostTrust trust,
        Account account);
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  /// Offers the keys in turn, then a password. Throws HostError.
  asio::awaitable<void> run();
  /// Releases a thread that waits for the agent. Stop the transport first.
  void stop();
  /// What the server has told the user last: a banner, or an instruction without a question. Untrusted.
  std::string server_text() const;
  /// The other party that the login waits for, for people; empty: the server.
  std::string waits_for() const;

 private:
  static constexpr std::size_t kLongestText = 4'096;  // of a server to the user
  enum class Answer { accepted, refused };

  asio::awaitable<Answer> offer_keys();
  asio::awaitable<std::vector<KeyCandidate>> candidates();
  asio::awaitable<Answer> offer(const Identity& identity);
  asio::awaitable<void> try_locked(const Identity& identity);
  void drop_unusable(std::vector<KeyCandidate>& candidates);
  asio::awaitable<Answer> offer_agents(std::vector<AgentKey> keys);
  asio::awaitable<int> ask_agent();
  void leave_agent();
  asio::awaitable<Answer> offer_nothing();
  asio::awaitable<Answer> answer_no_question();
  asio::awaitable<Answer> offer_password();
  asio::awaitable<int> send_password(const Secret& password);
  asio::awaitable<int> answer_prompts(const Secret* password);
  unsigned methods() const;
  bool sends_password() const;
  bool answers_prompts() const;
  Answer judge(int result, const std::string& blob);
  IdentityList find_identities();
  void note_unsent(std::uint64_t sent, std::size_t count, bool are_rsa);
  std::string offers() const;
  [[noreturn]] void refuse();
  [[noreturn]] void ask_for_passphrase();
  link::Retry ask_for_password();

  Once running_;
  Transport& transport_;
  Credentials& credentials_;
  const SshSettings& settings_;
  std::optional<AgentProxy> agent_;  ///< none: there is no agent
  int agent_descriptor_ = -1;        ///< libssh's end of agent_, or -1; the session would close it
  const HostTrust trust_;
  std::vector<std::string> offered_;
  std::vector<std::string> unusable_;     ///< keys that libssh cannot read or does not send
  std::vector<std::string> not_allowed_;  ///< excluded by PubkeyAcceptedAlgorithms or RequiredRSASize
  std::vector<std::string> unsent_;       ///< RSA keys: the server accepts no signature that libssh makes
  std::string locked_;                    ///< a file with a passphrase that the server would accept
  bool wants_more_ = false;  ///< the server accepted a key but wants more (AuthenticationMethods)
  const Account account_;
  std::shared_ptr<Event> trial_ended_ = nullptr;  ///< the trial of the password by another login
  std::string password_trouble_;                  ///< why the password did not help, for people
  std::string instruction_;                       ///< of keyboard-interactive, with no question
  std::optional<ServerTextWatch> text_watch_;
};

}  // namespace podrun::ssh
