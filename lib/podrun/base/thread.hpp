// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace podrun {

/// Starts a thread that takes no signal of a user or terminal, so that the main thread takes them all, in
/// their order. Throws std::system_error.
std::thread start_thread(std::function<void()> body);

}  // namespace podrun
