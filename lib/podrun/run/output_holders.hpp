// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/link/link.hpp"
#include "podrun/remote/supervised.hpp"

namespace podrun {

/// What holds a command's output open behind its end: `pid 7 (sleep), 8 (sh)`, or `something` when the host
/// does not say within five seconds; then link and command are stopped. Both must outlive the call.
asio::awaitable<std::string> name_output_holders(asio::any_io_executor executor, Link& link,
                                                 Supervised& supervised);

}  // namespace podrun
