// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/ssh/agent.hpp"
#include "podrun/ssh/identities.hpp"
#include "podrun/ssh/settings.hpp"
#include "podrun/ssh/transport.hpp"

namespace podrun {

/// What logins learn about the keys.
struct KeyMemory {
  std::string last_accepted = {};              ///< blob of what a host has taken: offered first to the next
  std::vector<std::string> locked_files = {};  ///< a host would take them: their passphrases are to be asked
};

/// What the logins of a run share.
struct Credentials {
  Identities& identities;
  KeyMemory& memory;
  Agents& agents;
  BlockingPool& pool;  ///< libssh waits for the agent, which may ask its user
  /// How long a login waits for an agent where there are key files as well.
  std::chrono::milliseconds agent_patience{5'000};
};

/// in_doubt: the host's key has changed, so no agent is used. Keys of files are: a signature is good for this
/// one session only (RFC 4252 section 7).
enum class HostTrust { full, in_doubt };

/// One login by public key. RFC 4252
class Login {
 public:
  Login(Transport& transport, Credentials& credentials, const SshSettings& settings, HostTrust trust);
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  /// Offers one key after the other. Throws HostError.
  asio::awaitable<void> run();
  /// Frees what waits for the agent; the transport is stopped first.
  void stop();
  /// What the login waits for, for people; empty: for the server.
  std::string waits_for() const;

 private:
  enum class Answer { accepted, refused };

  /// A key of the agent, or a file's.
  struct Candidate {
    std::string blob;
    std::variant<AgentKey, std::shared_ptr<const Identity>> key;
  };

  asio::awaitable<std::vector<Candidate>> candidates();
  asio::awaitable<Answer> offer(const Identity& identity);
  asio::awaitable<void> try_locked(const Identity& identity);
  asio::awaitable<Answer> offer_agents(std::vector<AgentKey> keys);
  asio::awaitable<int> ask_agent();
  void leave_agent();
  asio::awaitable<Answer> offer_nothing();
  Answer judge(int result, const std::string& blob);
  IdentityList find_identities();
  void note_unsent(std::uint64_t sent, std::size_t count);
  std::string offers() const;
  [[noreturn]] void refuse();
  [[noreturn]] void ask_for_passphrase();

  Transport& transport_;
  Credentials& credentials_;
  const SshSettings& settings_;
  std::optional<AgentProxy> agent_;  ///< nothing: there is none
  int agent_descriptor_ = -1;        ///< libssh's end, once it has one; the session would close it
  const HostTrust trust_;
  std::vector<std::string> offered_;
  std::vector<std::string> not_allowed_;  ///< by PubkeyAcceptedAlgorithms or RequiredRSASize
  std::vector<std::string> unsent_;       ///< RSA keys: the server takes none of our signatures
  std::string locked_;                    ///< a file with a passphrase that the server would take
  bool wants_more_ = false;               ///< than a key that it has taken (AuthenticationMethods)
};

}  // namespace podrun
