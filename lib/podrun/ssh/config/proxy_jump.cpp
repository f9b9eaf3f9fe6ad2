// SPDX-License-Identifier: Apache-2.0
// Reads ProxyJump, and finds circles among jump hosts.
#include "podrun/ssh/config/proxy_jump.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun::ssh {
namespace {

[[noreturn]] void refuse(std::string_view hop) {
  throw UsageError(
      fmt::format("bad ProxyJump \"{}\" (expected [user@]host[:port], several between commas)", hop));
}

hosts::Host parse_hop(std::string_view hop) {
  if (std::any_of(hop.begin(), hop.end(), is_control)) refuse(hop);
  std::string_view text = hop;
  if (text.starts_with("ssh://")) {
    text.remove_prefix(6);
    if (text.ends_with('/')) text.remove_suffix(1);
  }
  hosts::Host host;
  host.source = "ProxyJump";
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    host.user = text.substr(0, at);
    if (host.user.empty()) refuse(hop);
    text.remove_prefix(at + 1);
  }
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) refuse(hop);
    host.name = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && port.front() != ':') refuse(hop);
  } else {
    const std::size_t colon = text.find(':');
    const bool is_ipv6 =
        colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos;
    host.name = is_ipv6 ? text : text.substr(0, colon);
    port = is_ipv6 || colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (!port.empty()) {
    const std::optional<std::uint16_t> number = to_port(port.substr(1));
    if (!number) refuse(hop);
    host.port = *number;
  }
  if (host.name.empty() || host.name.starts_with('-') || host.name.find_first_of(" /[]") != std::string::npos)
    refuse(hop);
  return host;
}

}  // namespace

std::vector<hosts::Host> parse_proxy_jump(std::string_view text) {
  std::vector<hosts::Host> hops;
  for (const std::string_view hop : split(text, ',')) hops.push_back(parse_hop(hop));
  return hops;
}

SshSettings last_jump_host(const std::string& proxy_jump, const SettingsForJumpHost& settings_for) {
  SshSettings settings = settings_for(parse_proxy_jump(proxy_jump).back());
  if (const std::size_t comma = proxy_jump.rfind(','); comma != std::string::npos) {
    settings.proxy_jump = proxy_jump.substr(0, comma);
    settings.proxy_command.clear();
  }
  return settings;
}

std::vector<SshSettings> all_jump_hosts(const std::string& proxy_jump,
                                        const SettingsForJumpHost& settings_for) {
  constexpr std::size_t kMost = 16;
  std::vector<SshSettings> hosts;
  for (std::string jump = proxy_jump; !jump.empty(); jump = hosts.back().proxy_jump) {
    if (hosts.size() == kMost) {
      throw UsageError(
          fmt::format("ProxyJump \"{}\" loops back to itself (write \"Host {}\" and \"ProxyJump none\" "
                      "before the setting that applies to all hosts)",
                      proxy_jump, parse_proxy_jump(jump).back().name));
    }
    hosts.push_back(last_jump_host(jump, settings_for));
  }
  return hosts;
}

}  // namespace podrun::ssh
