// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/transport/channel_replies.hpp"

#include <csignal>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

namespace podrun::ssh {

link::Exited exited_with(int status_on_the_wire) {
  constexpr int kLargest = 255;
  const bool is_one_byte = status_on_the_wire >= 0 && status_on_the_wire <= kLargest;
  return {is_one_byte ? status_on_the_wire : kLargest};
}

link::Signaled signaled_by(std::string_view name) {
  constexpr std::pair<std::string_view, int> kNames[] = {{"ABRT", SIGABRT}, {"ALRM", SIGALRM},
                                                         {"FPE", SIGFPE},   {"HUP", SIGHUP},
                                                         {"ILL", SIGILL},   {"INT", SIGINT},
                                                         {"KILL", SIGKILL}, {"PIPE", SIGPIPE},
                                                         {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV},
                                                         {"TERM", SIGTERM}, {"USR1", SIGUSR1},
                                                         {"USR2", SIGUSR2}, {"BUS@openssh.com", SIGBUS}};
  for (const auto& [known, number] : kNames) {
    if (known == name) return {number};
  }
  return {SIGKILL};
}

/// 1 is "prohibited" and 2 "connect failed" (RFC 4254 5.1). libssh keeps one such text per session, so a text
/// with another channel's number has replaced this channel's. A jump host prohibits forwarding for all
/// channels alike, but a failed connection says nothing about other hosts.
link::Failure forward_refused(std::string_view error, unsigned number) {
  constexpr std::string_view kProhibited = " error (1) ";
  constexpr std::string_view kFailed = " error (2) ";
  const bool is_ours = error.find(fmt::format("channel {} ", number)) != std::string_view::npos;
  if (const std::size_t reason = error.find(kProhibited); reason != std::string_view::npos) {
    return {link::Stage::forwarding, link::Cause::forwarding_refused,
            std::string(error.substr(reason + kProhibited.size())),
            is_ours ? link::Retry::no : link::Retry::may_help};
  }
  const std::size_t reason = is_ours ? error.find(kFailed) : std::string_view::npos;
  const std::string why =
      reason == std::string_view::npos ? "" : lower_first(error.substr(reason + kFailed.size()));
  return {link::Stage::forwarding, link::Cause::not_forwarded, why, link::Retry::may_help};
}

}  // namespace podrun::ssh
