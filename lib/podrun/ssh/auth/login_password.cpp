// SPDX-License-Identifier: Apache-2.0
// Offers a password, and answers the single question that is one.
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <libssh/libssh.h>

#include "podrun/ssh/auth/login.hpp"

namespace podrun::ssh {

/// Whether a password may be sent: the server accepts one, the user allows it, and the server is the one it
/// was.
bool Login::sends_password() const {
  return trust_ == HostTrust::full && settings_.takes_password() &&
         (methods() & SSH_AUTH_METHOD_PASSWORD) != 0;
}

/// The same for the answer to a prompt.
bool Login::answers_prompts() const {
  return trust_ == HostTrust::full && settings_.takes_prompts() &&
         (methods() & SSH_AUTH_METHOD_INTERACTIVE) != 0;
}

/// A server may let the user in without a question: after a push to his phone, or with no second factor.
asio::awaitable<Login::Answer> Login::answer_no_question() {
  if (sends_password() || !answers_prompts() || settings_.batch_mode) co_return Answer::refused;
  const int result = co_await answer_prompts(nullptr);
  co_return judge(result, {});
}

/// While another login tries the password for the first time, this one waits for the result.
asio::awaitable<Login::Answer> Login::offer_password() {
  Passwords& passwords = credentials_.memory.passwords;
  if (!sends_password() && !answers_prompts()) co_return Answer::refused;
  for (;;) {
    trial_ended_ = std::make_shared<Event>(co_await asio::this_coro::executor);
    if (!passwords.is_on_trial(account_, trial_ended_)) break;
    co_await trial_ended_->wait();
    transport_.check();
  }
  const Secret* password = passwords.find(account_);
  if (!password) co_return Answer::refused;
  Passwords::Trial trial(passwords, account_);
  Answer answer = Answer::refused;
  bool is_half = false;
  try {
    const int result = co_await send_password(*password);
    if (result == SSH_AUTH_DENIED && passwords.is_accepted(account_))
      password_trouble_ = "the password that another host accepts was refused";
    answer = judge(result, {});
    is_half = result == SSH_AUTH_PARTIAL;
    const bool was_right = answer == Answer::accepted || is_half;
    trial.end(was_right ? Passwords::Result::accepted : Passwords::Result::refused);
  } catch (const link::HostError&) {
    trial.end(Passwords::Result::none);
    throw;
  }
  if (is_half) answer = co_await answer_no_question();
  co_return answer;
}

asio::awaitable<int> Login::send_password(const Secret& password) {
  const ssh_session session = transport_.session();
  if (!sends_password()) co_return co_await answer_prompts(&password);
  co_return co_await transport_.finish(
      [&] { return ssh_userauth_password(session, settings_.user.c_str(), password.text().c_str()); },
      SSH_AUTH_AGAIN);
}

/// Answers a single prompt, without echo, with the password, and no prompt at once. Asked the same again, the
/// password was wrong; what else the server may ask for belongs to one host and one moment, such as a code.
/// Without a password it leaves the question open.
asio::awaitable<int> Login::answer_prompts(const Secret* password) {
  const ssh_session session = transport_.session();
  std::optional<std::string> answered;
  for (;;) {
    const int result = co_await transport_.finish(
        [&] { return ssh_userauth_kbdint(session, settings_.user.c_str(), nullptr); }, SSH_AUTH_AGAIN);
    if (result != SSH_AUTH_INFO) co_return result;
    const int prompts = ssh_userauth_kbdint_getnprompts(session);
    if (prompts <= 0) {
      const char* text = ssh_userauth_kbdint_getinstruction(session);
      instruction_ = text ? std::string(text, ::strnlen(text, kLongestText)) : "";
      continue;
    }
    char shows_answer = 0;
    const char* text = ssh_userauth_kbdint_getprompt(session, 0, &shows_answer);
    const std::string prompt = text ? text : "";
    if (prompts == 1 && answered == prompt) co_return SSH_AUTH_DENIED;
    if (prompts > 1 || answered || shows_answer != 0) {
      throw link::HostError(
          {transport_.stage(), link::Cause::permission_denied,
           fmt::format("for {} (the server asks for more than a password: \"{}\")", settings_.user, prompt)});
    }
    if (!password) co_return SSH_AUTH_DENIED;
    ssh_userauth_kbdint_setanswer(session, 0, password->text().c_str());
    answered = prompt;
  }
}

/// Whether the user can help with a password: then the run starts again with it.
link::Retry Login::ask_for_password() {
  Passwords& passwords = credentials_.memory.passwords;
  if ((!sends_password() && !answers_prompts()) || settings_.batch_mode || !password_trouble_.empty())
    return link::Retry::no;
  const std::size_t wrong = passwords.wrong_answers(account_);
  if (wrong > 0) password_trouble_ = "the password was wrong";
  if (wrong >= settings_.password_prompts) return link::Retry::no;
  passwords.want(account_, settings_.host_name);
  return link::Retry::after_asking;
}

}  // namespace podrun::ssh
