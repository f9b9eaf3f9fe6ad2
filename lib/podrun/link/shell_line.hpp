// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podrun/link/link.hpp"

namespace podrun::link {

/// The program as one line for a shell that reads commands from standard input. It runs only if all of it
/// arrives: without its beginning or end it is a syntax error.
std::string shell_line(const Program& program);

/// Writes the parts of a text in small pieces, each after the previous one was sent. The text must stay alive
/// until then. False if the stream is no longer read.
asio::awaitable<bool> send_text(Stream& stream, std::vector<std::string_view> parts);

/// Sends shell_line() to a shell. If the shell does not take it, the stream reports the shell's end.
asio::awaitable<void> send_program(Stream& shell, const Program& program);

}  // namespace podrun::link
