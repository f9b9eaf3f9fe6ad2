// SPDX-License-Identifier: Apache-2.0
// Reads what a server sends before the keys are exchanged: why it may have ended the connection.
#include "podrun/ssh/transport/opening.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

namespace podrun::ssh {
namespace {

constexpr std::size_t kLongestLine = 200;

/// The most that is kept. (OpenSSH sends 1 to 2 kB before the keys are exchanged.)
constexpr std::size_t kLongestOpening = 8192;

/// The lists that must have a name in common with the server's, in the order of SSH_MSG_KEXINIT, and libssh's
/// words for them.
struct Method {
  ssh_options_e option;
  std::string_view words;
};
constexpr std::array<Method, 4> kMethods = {{{SSH_OPTIONS_KEY_EXCHANGE, "kex algos"},
                                             {SSH_OPTIONS_HOSTKEYS, "server host key algo"},
                                             {SSH_OPTIONS_CIPHERS_C_S, "encryption client->server"},
                                             {SSH_OPTIONS_CIPHERS_S_C, "encryption server->client"}}};

std::string cut(std::string_view text) {
  return std::string(text.substr(0, kLongestLine)) + (text.size() > kLongestLine ? "…" : "");
}

/// Takes a number of four bytes off the front.
std::optional<std::size_t> take_number(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  std::size_t number = 0;
  for (const char byte : bytes.substr(0, 4)) number = number << 8U | static_cast<unsigned char>(byte);
  bytes.remove_prefix(4);
  return number;
}

/// The bytes after the line with the server's version.
std::string_view after_version(std::string_view opening) {
  while (!opening.empty()) {
    const bool is_version = opening.starts_with("SSH-");
    opening.remove_prefix(std::min(opening.find('\n'), opening.size() - 1) + 1);
    if (is_version) break;
  }
  return opening;
}

}  // namespace

std::string line_before_version(std::string_view opening) {
  opening.remove_prefix(std::min(opening.find_first_not_of(" \t\r\n"), opening.size()));
  if (opening.starts_with("SSH-")) return {};
  const std::string_view line = opening.substr(0, opening.find_first_of("\r\n"));
  return cut(line);
}

std::vector<std::string_view> offered_algorithms(std::string_view opening) {
  constexpr std::size_t kLists = 10;
  constexpr std::size_t kBeforeLists = 1 + 1 + 16;  // the padding's length, the message's number, the cookie
  constexpr char kKexInit = 20;
  std::string_view packet = after_version(opening);
  const std::optional<std::size_t> length = take_number(packet);
  if (!length || packet.size() < *length || *length < kBeforeLists || packet[1] != kKexInit) return {};
  packet = packet.substr(kBeforeLists, *length - kBeforeLists);
  std::vector<std::string_view> lists;
  while (lists.size() < kLists) {
    const std::optional<std::size_t> size = take_number(packet);
    if (!size || packet.size() < *size) return {};
    lists.push_back(packet.substr(0, *size));
    packet.remove_prefix(*size);
  }
  return lists;
}

bool have_common_name(std::string_view one, std::string_view other) {
  const std::vector<std::string_view> names = split(other, ',');
  return std::ranges::any_of(split(one, ','), [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

std::string no_match(std::string_view method, std::string_view offered, std::string_view ours,
                     std::string_view libssh_version) {
  libssh_version = libssh_version.substr(0, libssh_version.find('/'));  // "0.10.6/openssl/zlib"
  const bool is_newer = offered.find("mlkem") != offered.npos || offered.find("sntrup") != offered.npos;
  const bool knows_newer = ours.find("mlkem") != ours.npos || ours.find("sntrup") != ours.npos;
  return fmt::format("no match for method {}: server [{}], podrun with libssh {} [{}]{}", method,
                     cut(offered), libssh_version, cut(ours),
                     is_newer && !knows_newer ? " (mlkem and sntrup need libssh 0.12)" : "");
}

/// `error`: `kex error : no match for method kex algos: server [a,b], client [c,d]`, whose end may be cut
/// off.
std::optional<std::string> explain_no_match(std::string_view error) {
  constexpr std::string_view kNoMatch = "kex error : no match for method ";
  constexpr std::string_view kServer = ": server [";
  constexpr std::string_view kClient = "], client [";
  const std::size_t server = error.find(kServer);
  const std::size_t client = error.find(kClient);
  if (!error.starts_with(kNoMatch) || server == error.npos || client == error.npos || client < server)
    return std::nullopt;
  const std::string_view ours = error.substr(client + kClient.size());
  return no_match(error.substr(kNoMatch.size(), server - kNoMatch.size()),
                  error.substr(server + kServer.size(), client - server - kServer.size()),
                  ours.substr(0, ours.find(']')), ssh_version(0));
}

void Opening::note(ssh_options_e option, const std::string& value) {
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    if (kMethods[i].option == option) ours_[i] = value;
  }
}

void Opening::peek(int descriptor, std::uint64_t received) {
  const auto at = static_cast<std::size_t>(received);
  // More than the size: between two calls libssh has read what was not seen.
  if (is_read_ || at > bytes_.size() || at >= kLongestOpening) return;
  std::array<char, kLongestOpening> next;
  const ssize_t count = ::recv(descriptor, next.data(), kLongestOpening - at, MSG_PEEK | MSG_DONTWAIT);
  if (count <= 0) return;
  bytes_.replace(at, bytes_.npos, next.data(), static_cast<std::size_t>(count));
  const std::vector<std::string_view> offered = offered_algorithms(bytes_);
  if (offered.empty()) return;
  for (std::size_t i = kMethods.size(); i-- > 0;) {
    if (!ours_[i].empty() && !have_common_name(offered[i], ours_[i]))
      no_match_ = no_match(kMethods[i].words, offered[i], ours_[i], ssh_version(0));
  }
  is_read_ = true;
  bytes_ = std::string();  // thousands of connections open at the same time
  ours_ = {};
}

std::optional<link::Failure> Opening::early_end(link::Stage stage) const {
  if (stage == link::Stage::ssh_banner) {
    const std::string line = line_before_version();
    if (line.empty()) return std::nullopt;
    std::string detail = fmt::format("it says \"{}\"", line);
    if (line.starts_with("HTTP/")) return link::Failure{stage, link::Cause::not_ssh, std::move(detail)};
    return link::Failure{stage, link::Cause::closed, std::move(detail), link::Retry::may_help};
  }
  if (stage != link::Stage::key_exchange || no_match_.empty()) return std::nullopt;
  return link::Failure{stage, link::Cause::protocol_error, no_match_};
}

}  // namespace podrun::ssh
