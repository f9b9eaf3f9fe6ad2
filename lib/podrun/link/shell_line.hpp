// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/link/link.hpp"

namespace podrun {

/// The program as one line for a shell that reads its commands from standard input. Nothing of it runs unless
/// all of it arrives: without its beginning or end it is a syntax error.
std::string shell_line(const Program& program);

/// Writes text in small pieces, each when the one before has been sent; false when nobody reads there.
asio::awaitable<bool> send_text(Stream& stream, std::string_view text);

/// Sends that line to a shell. One that does not take it ends, which the stream tells.
asio::awaitable<void> send_program(Stream& shell, const Program& program);

}  // namespace podrun
