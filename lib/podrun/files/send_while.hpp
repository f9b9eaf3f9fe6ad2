// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <asio/awaitable.hpp>

#include "podrun/link/link.hpp"

namespace podrun::files {

/// Sends a text to a program and ends its standard input, while `reading` reads its output: a program that
/// answers before it has read everything, and podrun, would wait for each other. Abandons the program when
/// `reading` ends, and rethrows what it throws.
asio::awaitable<void> send_while(std::shared_ptr<link::Stream> stream, std::string text,
                                 asio::awaitable<void> reading);

}  // namespace podrun::files
