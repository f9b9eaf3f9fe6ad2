// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>

namespace podrun {

/// Blocks these signals in the calling thread while it exists, and in threads that are started meanwhile.
class SignalsBlocked {
 public:
  SignalsBlocked(std::initializer_list<int> signals);
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();

 private:
  sigset_t before_{};
};

/// Starts a thread that takes no signal of a user or terminal, so that the main thread takes them all, in
/// their order. Throws std::system_error.
std::thread start_thread(std::function<void()> body);

}  // namespace podrun
