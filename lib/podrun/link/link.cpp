// SPDX-License-Identifier: Apache-2.0
#include "podrun/link/link.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"

namespace podrun::link {

namespace {

/// In bytes. libssh has two buffers for each host that stay as large as its largest packet.
constexpr std::size_t kSmallPiece = 2000;

/// The first line. The environment may have set options of bash (SHELLOPTS) and a time limit for its `read`
/// (TMOUT). Both are for the command, which gets them back.
constexpr std::string_view kSetAside =
    "podrun_text=; podrun_options=; case $- in *[aefuvxC]*) podrun_options=$SHELLOPTS; set +aefuvxC ;; esac; "
    "podrun_tmout=$TMOUT; unset TMOUT; ";
/// dash reads a pipe in blocks, bash byte by byte: so it is made to take the second line, of {} bytes, at
/// once. In POSIX mode it would count that byte by byte too.
constexpr std::string_view kReadAtOnce =
    "if [ \"$BASH_VERSION\" ]; then podrun_posix=; "
    "case :$SHELLOPTS: in *:posix:*) podrun_posix=1; set +o posix ;; esac; "
    "LC_ALL=C IFS= read -rN {} podrun_text; [ -z \"$podrun_posix\" ] || set -o posix; fi; ";

/// A start-up file that reads standard input may have taken the first line.
constexpr std::string_view kCheckBegin = "[ \"${podrun_options+set}\" ] || exit 125";
/// A start-up file may have replaced the expected shell by another: zsh splits words only when told to, and
/// an interactive shell treats signals differently.
constexpr std::string_view kCheckShell =
    "case $- in *i*) { echo; echo \"a start-up file runs an interactive shell instead of /bin/sh\"; } >&2; "
    "exit 125 ;; esac; [ -z \"$ZSH_VERSION\" ] || emulate sh";
constexpr std::string_view kEndLine = "; exit; }\n";

std::string begin_line(const Program& program) {
  std::string line = fmt::format("{{ {}; {}; {}; set --", kCheckBegin, kCheckShell, kDefineNewline);
  for (const std::string& argument : program.arguments) line += ' ' + shell_quote_in_line(argument);
  return line + "; ";
}

/// `begin`: of begin_line().
std::string first_line(const Program& program, std::string_view begin) {
  const std::size_t size = begin.size() + program.script.bytes().size() + kEndLine.size();
  return fmt::format("{{ {}{}}} 2>/dev/null; [ -z \"$podrun_text\" ] || eval \"$podrun_text\"\n", kSetAside,
                     fmt::format(kReadAtOnce, size));
}

}  // namespace

asio::awaitable<std::shared_ptr<Stream>> Link::forward(std::uint16_t /*port*/) {
  throw HostError({Stage::forwarding, Cause::forwarding_refused});
  co_return nullptr;
}

std::string shell_text(const Program& program) {
  const std::string begin = begin_line(program);
  return first_line(program, begin) + begin + std::string(program.script.bytes()) + std::string(kEndLine);
}

asio::awaitable<bool> send_text(Stream& stream, std::vector<std::string_view> parts) {
  std::string piece;
  for (std::size_t at = 0; at < parts.size();) {
    const std::string_view part = parts[at].substr(0, kSmallPiece - piece.size());
    piece += part;
    parts[at].remove_prefix(part.size());
    if (parts[at].empty()) ++at;
    if (piece.size() < kSmallPiece && at < parts.size()) continue;
    Chunk chunk(std::exchange(piece, {}));  // named: g++ 12 destroys a temporary here twice
    const bool open = co_await stream.write(std::move(chunk));
    if (!open) co_return false;
  }
  co_return true;
}

asio::awaitable<void> send_program(Stream& shell, const Program& program) {
  const std::string begin = begin_line(program);  // the long script is never copied per host
  const std::string first = first_line(program, begin);
  std::vector<std::string_view> parts = {first, begin, program.script.bytes(), kEndLine};  // named, as above
  co_await send_text(shell, std::move(parts));
}

}  // namespace podrun::link
