// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/thread.hpp"

#include <utility>

namespace podrun {

SignalsBlocked::SignalsBlocked(std::initializer_list<int> signals) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (const int signal : signals) ::sigaddset(&blocked, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

SignalsBlocked::~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::thread start_thread(std::function<void()> body) {
  const SignalsBlocked blocked{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
  return std::thread(std::move(body));
}

}  // namespace podrun
