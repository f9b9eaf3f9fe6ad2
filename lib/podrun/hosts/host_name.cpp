// SPDX-License-Identifier: Apache-2.0
// Reads one host: its user, its name or address, and its port.
#include "podrun/hosts/host_name.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/foreign_list.hpp"

namespace podrun::hosts {
namespace {

constexpr std::string_view kAlphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::size_t kMaxNameSize = 253;  // of a name in DNS

/// Whether it has only letters, digits and `others`, a sensible length, and cannot be read as an option.
bool is_plain(std::string_view text, std::string_view others) {
  const auto allowed = [others](char c) { return kAlphanumeric.find(c) != npos || others.find(c) != npos; };
  return !text.empty() && text.size() <= kMaxNameSize && text.front() != '-' && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), allowed);
}

/// A name that ssh_config(5) or `--via` may know: all but what a shell, a list or a URL uses (ssh refuses
/// these characters of a shell too).
bool is_alias(std::string_view text) {
  constexpr std::string_view kRefusedFirst = "-./+";
  constexpr std::string_view kRefused = "'\"`$\\&<>;|(){}[]#*?!^=@:,~ ";
  const auto refused = [kRefused](char c) { return kRefused.find(c) != npos || is_control(c); };
  return !text.empty() && text.size() <= kMaxNameSize && kRefusedFirst.find(text.front()) == npos &&
         std::none_of(text.begin(), text.end(), refused);
}

/// `10.0.0.2` before `rest` of a word such as `10.0.0.2-4` or `10.0.0.0/24`.
bool continues_address(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  return at != npos && is_address(text.substr(0, at)) && text.find_first_not_of(kDigits, at + 1) == npos;
}

/// `127.1`, `010.0.0.2`, `0x7f000001`, `10.8.0.510.8.1.5`: the resolver takes some of them for addresses. A
/// number alone may be a worker of `-x`, or a container's name with `--via`.
bool is_almost_address(std::string_view text) {
  in_addr binary;
  const bool has_digits_alone = text.find_first_not_of(kDigits) == npos;
  if (text.empty() || has_digits_alone || is_address(text)) return false;
  return text.find_first_not_of("0123456789.") == npos ||
         (is_plain(text, ".") && inet_aton(std::string(text).c_str(), &binary) == 1);
}

std::string parse_name(std::string_view text, const HostEntry& entry) {
  if (is_almost_address(text))
    entry.refuse("address", text, "four numbers from 0 to 255, and a blank or a comma between two addresses");
  refuse_resource(text, entry);
  if (continues_address(text, '-')) entry.refuse("address", text, "10.0.0.[2-4] for several");
  if (continues_address(text, '/')) entry.refuse("address", text, "a host, not a network");
  if (!is_alias(text)) entry.refuse("host", text, "a name or an address");
  return std::string(text);
}

std::string parse_ipv6(std::string_view text, const HostEntry& entry) {
  const std::size_t percent = text.find('%');
  const bool zone_is_plain = percent == npos || is_plain(text.substr(percent + 1), "._-");
  if (text.find("://") != npos) entry.refuse("host", text, "a name or an address, not a URL");
  if (!zone_is_plain || text.substr(0, percent).find(':') == npos || !is_address(text.substr(0, percent)))
    entry.refuse("address", text, "an IPv6 address, in brackets when a port follows");
  return std::string(text);
}

/// The address in `name:id:10.0.0.2`, as the metadata server of a TPU names its workers.
std::optional<std::string_view> address_of_endpoint(std::string_view text) {
  const std::string_view address = text.substr(text.rfind(':') + 1);
  if (std::count(text.begin(), text.end(), ':') != 2 || !is_address(address)) return std::nullopt;
  return address;
}

/// Reads `[2001:db8::1]:22`, `2001:db8::1`, `name:22` or `name` into the name and port of `host`.
void parse_name_and_port(std::string_view text, const HostEntry& entry, Host& host) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');  // HostPattern has checked that there is one
    const std::string_view after = text.substr(close + 1);
    host.name = parse_ipv6(text.substr(1, close - 1), entry);
    if (!after.empty() && after.front() != ':') entry.refuse("port", after, "\":\" and 1-65535");
    if (!after.empty()) host.port = parse_port(after.substr(1), entry);
    return;
  }
  const std::size_t colon = text.find(':');
  if (colon != npos && (text.find(':', colon + 1) != npos || text.substr(colon).starts_with("://"))) {
    const auto address = address_of_endpoint(text);
    host.name = address ? std::string(*address) : parse_ipv6(text, entry);
    return;
  }
  host.name = parse_name(text.substr(0, colon), entry);
  if (colon != npos) host.port = parse_port(text.substr(colon + 1), entry);
}

/// Whether it is `local` or a name such as `local2`.
bool names_this_machine(std::string_view name) {
  return name.starts_with("local") && name.find_first_not_of(kDigits, 5) == npos;
}

}  // namespace

Host parse_host(std::string_view text, const HostEntry& entry) {
  Host host;
  host.source = entry.where;
  if (const std::size_t at = text.rfind('@'); at != npos) {
    host.user = parse_user(text.substr(0, at), entry);
    text.remove_prefix(at + 1);
  }
  parse_name_and_port(text, entry, host);
  if (!names_this_machine(host.name)) return host;
  if (!host.user.empty() || host.port != 0) {
    throw UsageError(
        fmt::format("{}: {:?} has a user or a port (\"{}\" is this machine without ssh; "
                    "for ssh to it: localhost)",
                    entry.where, entry.text, host.name));
  }
  host.kind = HostKind::local;
  return host;
}

Host parse_plain_host(std::string_view text, std::string_view where) {
  const HostEntry entry{text, where};
  Host host;
  host.name = text.find(':') == npos ? parse_name(text, entry) : parse_ipv6(text, entry);
  host.source = where;
  return host;
}

std::uint16_t parse_port(std::string_view text, const HostEntry& entry) {
  const std::optional<std::uint16_t> port = to_port(text);
  if (!port) entry.refuse("port", text, "1-65535");
  return *port;
}

std::string parse_user(std::string_view text, const HostEntry& entry) {
  if (!is_plain(text, "._-+@\\")) entry.refuse("user", text, "letters, digits and \"._-+@\\\"");
  return std::string(text);
}

bool is_address(std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> binary;
  const std::string address(text);
  return text.find('\0') == npos && (inet_pton(AF_INET, address.c_str(), binary.data()) == 1 ||
                                     inet_pton(AF_INET6, address.c_str(), binary.data()) == 1);
}

bool is_private_address(std::string_view text) {
  in_addr binary;
  if (inet_pton(AF_INET, std::string(text).c_str(), &binary) != 1) return false;
  const std::uint32_t address = ntohl(binary.s_addr);
  return address >> 24 == 10 || address >> 20 == 0xAC1 || address >> 16 == 0xC0A8 || address >> 22 == 0x191;
}

bool is_bare_number(const Host& host) {
  return host.address.empty() && host.name.find_first_not_of(kDigits) == npos;
}

std::string to_text(const Host& host) {
  const bool is_ipv6 = host.name.find(':') != std::string::npos;
  std::string text = host.user.empty() ? "" : host.user + "@";
  text += is_ipv6 && host.port != 0 ? fmt::format("[{}]", host.name) : host.name;
  return host.port == 0 ? text : fmt::format("{}:{}", text, host.port);
}

std::string host_file_name(const Host& host) {
  std::string name = fmt::format("{}-{}", host.worker, host.name);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

}  // namespace podrun::hosts
