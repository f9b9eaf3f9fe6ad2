// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>
#include <utility>

namespace podrun {

/// Blocks these signals in the calling thread, and in threads started by it, while the object exists.
class SignalsBlocked {
 public:
  SignalsBlocked(std::initializer_list<int> signals) {
    sigset_t blocked;
    ::sigemptyset(&blocked);
    for (const int signal : signals) ::sigaddset(&blocked, signal);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Starts a thread that blocks the signals of users and terminals, so that the main thread gets them all, in
/// order. Throws std::system_error.
inline std::thread start_thread(std::function<void()> body) {
  const SignalsBlocked blocked{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
  return std::thread(std::move(body));
}

}  // namespace podrun
