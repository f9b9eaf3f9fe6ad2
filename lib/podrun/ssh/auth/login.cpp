// SPDX-License-Identifier: Apache-2.0
// Logs in to one host: keys of the agent and of files (login_keys.cpp), then a password (login_password.cpp).
#include "podrun/ssh/auth/login.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libssh/libssh.h>

namespace podrun::ssh {
namespace {

std::string method_names(unsigned methods) {
  std::vector<std::string> names;
  for (const auto& [method, name] :
       {std::pair{SSH_AUTH_METHOD_PUBLICKEY, "publickey"}, std::pair{SSH_AUTH_METHOD_PASSWORD, "password"},
        std::pair{SSH_AUTH_METHOD_INTERACTIVE, "keyboard-interactive"},
        std::pair{SSH_AUTH_METHOD_HOSTBASED, "hostbased"},
        std::pair{SSH_AUTH_METHOD_GSSAPI_MIC, "gssapi-with-mic"}}) {
    if ((methods & method) != 0) names.emplace_back(name);
  }
  return names.empty() ? "nothing podrun knows" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Login::Login(Transport& transport, Credentials& credentials, const SshSettings& settings, HostTrust trust,
             Account account)
    : transport_(transport),
      credentials_(credentials),
      settings_(settings),
      trust_(trust),
      account_(std::move(account)) {
  if (trust == HostTrust::in_doubt) return;
  if (const Agent* agent = credentials.agents.find(settings.agent_socket)) agent_.emplace(*agent);
}

void Login::stop() {
  if (agent_) agent_->stop();
  if (trial_ended_) trial_ended_->notify();
}

std::string Login::waits_for() const {
  return agent_ && agent_->waits() ? fmt::format("agent \"{}\"", settings_.agent_socket) : "";
}

std::string Login::server_text() const {
  if (!instruction_.empty() || transport_.is_lent()) return instruction_;
  char* banner = ssh_get_issue_banner(transport_.session());
  std::string text = banner ? std::string(banner, ::strnlen(banner, kLongestText)) : "";
  ssh_string_free_char(banner);
  return text;
}

asio::awaitable<void> Login::run() {
  running_.call("Login::run() is called once");
  text_watch_.emplace(co_await asio::this_coro::executor,
                      [this] { credentials_.memory.server_texts.tell(settings_.host_name, server_text()); });
  // Before the keys, because the answer tells which RSA signatures the server accepts.
  const ssh_session session = transport_.session();
  const int service =
      co_await transport_.finish([=] { return ssh_service_request(session, "ssh-userauth"); }, SSH_AGAIN);
  if (service != SSH_OK) throw link::HostError(transport_.failure());
  const Answer to_keys = co_await offer_keys();
  if (to_keys == Answer::accepted) co_return;
  if (offered_.empty()) {
    const Answer answer = co_await offer_nothing();
    if (answer == Answer::accepted) co_return;
  }
  // On a connection that is left with an open question, nothing else could be sent.
  const bool has_password = credentials_.memory.passwords.find(account_) != nullptr;
  Answer answer = Answer::refused;
  if (has_password) {
    answer = co_await offer_password();
  } else {
    answer = co_await answer_no_question();
  }
  if (answer == Answer::accepted) co_return;
  refuse();
}

asio::awaitable<Login::Answer> Login::offer_nothing() {
  const ssh_session session = transport_.session();
  const int result = co_await transport_.finish(
      [&] { return ssh_userauth_none(session, settings_.user.c_str()); }, SSH_AUTH_AGAIN);
  co_return judge(result, {});
}

/// Those that the server names in its last refusal: SSH_AUTH_METHOD_….
unsigned Login::methods() const {
  return static_cast<unsigned>(ssh_userauth_list(transport_.session(), nullptr));
}

Login::Answer Login::judge(int result, const std::string& blob) {
  if (result == SSH_AUTH_ERROR) throw link::HostError(transport_.failure());
  if (result == SSH_AUTH_PARTIAL) wants_more_ = true;
  if (result != SSH_AUTH_SUCCESS) return Answer::refused;
  if (!blob.empty()) credentials_.memory.last_accepted = blob;
  return Answer::accepted;
}

void Login::refuse() {
  if (methods() == 0) transport_.check();  // libssh 0.11 takes the end of a connection for a refusal
  if (!locked_.empty()) ask_for_passphrase();
  const link::Retry retry = ask_for_password();
  const std::string trouble = agent_ ? agent_->trouble() : "";
  throw link::HostError({transport_.stage(), link::Cause::permission_denied,
                         fmt::format("for {} ({}; the server {} {}{}{}{}{})", settings_.user, offers(),
                                     wants_more_ ? "wants more:" : "accepts", method_names(methods()),
                                     trouble.empty() ? "" : "; the agent: ", trouble,
                                     password_trouble_.empty() ? "" : "; ", password_trouble_),
                         retry});
}

}  // namespace podrun::ssh
