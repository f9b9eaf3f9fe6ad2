// SPDX-License-Identifier: Apache-2.0
#include "podrun/link/shell_line.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"

namespace podrun {

namespace {

/// In bytes. libssh keeps buffers as large as the largest packet was, two for each host.
constexpr std::size_t kSmallPiece = 2000;

/// A start-up file may have replaced our shell by another one: zsh splits words only when told to, and an
/// interactive shell handles signals in its own way.
constexpr std::string_view kCheckShell =
    "case $- in *i*) { echo; echo \"a start-up file runs an interactive shell instead of /bin/sh\"; } >&2; "
    "exit 125 ;; esac; [ -z \"$ZSH_VERSION\" ] || emulate sh";
constexpr std::string_view kEndLine = "; exit; }\n";

std::string begin_line(const Program& program) {
  std::string line = fmt::format("{{ {}; {}; set --", kCheckShell, kDefineNewline);
  for (const std::string& argument : program.arguments) line += ' ' + shell_quote_in_line(argument);
  return line + "; ";
}

}  // namespace

std::string shell_line(const Program& program) {
  return begin_line(program) + std::string(program.script.bytes()) + std::string(kEndLine);
}

asio::awaitable<bool> send_text(Stream& stream, std::string_view text) {
  bool open = true;
  while (open && !text.empty()) {
    Chunk piece(std::string(text.substr(0, kSmallPiece)));  // named: g++ 12 destroys a temporary here twice
    text.remove_prefix(piece.size());
    open = co_await stream.write(std::move(piece));
  }
  co_return open;
}

asio::awaitable<void> send_program(Stream& shell, const Program& program) {
  const std::string begin = begin_line(program);  // the script is long, and never copied for a host
  bool open = co_await send_text(shell, begin);
  if (open) open = co_await send_text(shell, program.script.bytes());
  if (open) co_await send_text(shell, kEndLine);
}

}  // namespace podrun
