// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/thread.hpp"

#include <csignal>
#include <utility>

namespace podrun {
namespace {

/// Blocks the signals in this thread, and so in the threads that it starts meanwhile.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP}) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

std::thread start_thread(std::function<void()> body) {
  const SignalsBlocked blocked;
  return std::thread(std::move(body));
}

}  // namespace podrun
