// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>

namespace podrun {

/// Blocks these signals in the calling thread, and in threads started by it, while the object exists.
class SignalsBlocked {
 public:
  SignalsBlocked(std::initializer_list<int> signals);
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();

 private:
  sigset_t before_{};
};

/// Starts a thread that blocks the signals of users and terminals, so that the main thread gets them all, in
/// order. Throws std::system_error.
std::thread start_thread(std::function<void()> body);

}  // namespace podrun
