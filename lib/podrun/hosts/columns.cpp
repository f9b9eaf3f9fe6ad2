// SPDX-License-Identifier: Apache-2.0
// Tells a table of machines, which has a name and addresses of each, from a list of hosts.
#include "podrun/hosts/columns.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/hosts/host_name.hpp"

namespace podrun::hosts {
namespace {

constexpr const char* kOneName = "one column: value(name) of gcloud, -o name of kubectl; hosts: one a line";
constexpr const char* kOneColumn =
    "one column: value(networkEndpoints[].ipAddress) of TPUs, value(networkInterfaces[0].networkIP) of "
    "instances; for different machines type them: -H a,10.0.0.2";

enum class Kind { other, name, localhost, loopback, private_ipv4, public_ipv4, ipv6 };

Kind kind_of(const Host& host) {
  if (host.kind == HostKind::local || !host.address.empty()) return Kind::other;
  if (host.name == "localhost") return Kind::localhost;
  if (!is_address(host.name)) return Kind::name;
  if (host.name == "::1" || host.name.starts_with("127.")) return Kind::loopback;
  if (host.name.find(':') != std::string::npos) return Kind::ipv6;
  return is_private_address(host.name) ? Kind::private_ipv4 : Kind::public_ipv4;
}

/// Two sets of kinds that one machine may have beside each other, as bits of 1 << Kind.
struct Pair {
  unsigned one;
  unsigned other;
  /// The fewest hosts of a set that are columns over lines: a list may well have a name and an address.
  std::size_t fewest;
};

constexpr unsigned bit(Kind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr unsigned kIpv4 = bit(Kind::private_ipv4) | bit(Kind::public_ipv4);
constexpr std::array kPairs = {
    Pair{bit(Kind::localhost), bit(Kind::loopback), 2},
    Pair{bit(Kind::name), kIpv4 | bit(Kind::ipv6) | bit(Kind::loopback), 2},
    Pair{bit(Kind::private_ipv4), bit(Kind::public_ipv4), 1},
    Pair{kIpv4, bit(Kind::ipv6), 1},
};

/// For each host that belongs to the pair, whether it is of its first set.
std::vector<bool> sides(std::span<const Host> hosts, const Pair& pair) {
  std::vector<bool> result;
  for (const Host& host : hosts) {
    const unsigned kind = bit(kind_of(host));
    if ((kind & (pair.one | pair.other)) != 0) result.push_back((kind & pair.one) != 0);
  }
  return result;
}

bool has_both(const std::vector<bool>& sides) {
  return std::find(sides.begin(), sides.end(), !sides.empty() && !sides.front()) != sides.end();
}

bool has_period(const std::vector<bool>& sides, std::size_t period) {
  return std::equal(sides.begin() + static_cast<std::ptrdiff_t>(period), sides.end(), sides.begin());
}

/// Whether the sides alternate as the cells of a table do: row after row, or column after column.
bool are_cells(const std::vector<bool>& sides, std::size_t fewest) {
  const std::size_t ones = static_cast<std::size_t>(std::count(sides.begin(), sides.end(), true));
  if (std::min(ones, sides.size() - ones) < fewest) return false;
  if (ones * 2 == sides.size() &&
      std::is_partitioned(sides.begin(), sides.end(), [&](bool side) { return side == sides.front(); })) {
    return true;
  }
  for (std::size_t period = 2; period <= sides.size() / 2; ++period) {
    if (sides.size() % period == 0 && has_period(sides, period)) return true;
  }
  return false;
}

/// `gpu-` of `gpu-12.zone`: hosts of one kind have it in common.
std::string_view stem(std::string_view name) { return name.substr(0, name.find_first_of("0123456789.")); }

/// Whether the line has names of different kinds: `gpu-0 rack-b`.
bool has_unlike_names(std::span<const Host> hosts) {
  const auto is_unlike = [&](const Host& host) {
    return kind_of(host) == Kind::name && stem(host.name) != stem(hosts.front().name);
  };
  return !hosts.empty() && kind_of(hosts.front()) == Kind::name &&
         std::any_of(hosts.begin(), hosts.end(), is_unlike);
}

/// A name that has a short form among the hosts: `gpu-0.zone` and `gpu-0`. Empty: none.
std::string_view find_long_name(std::span<const Host> hosts) {
  std::set<std::string_view> names;
  for (const Host& host : hosts) {
    const Kind kind = kind_of(host);
    if (kind == Kind::name || kind == Kind::localhost) names.insert(host.name);
  }
  for (const std::string_view name : names) {
    for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
      if (names.contains(name.substr(0, dot))) return name;
    }
  }
  return "";
}

/// Whether the hosts are the cells of columns, one below or after the other.
bool look_like_columns(std::span<const Host> hosts) {
  return std::any_of(kPairs.begin(), kPairs.end(),
                     [&](const Pair& pair) { return are_cells(sides(hosts, pair), pair.fewest); });
}

}  // namespace

void refuse_columns(const HostEntry& line) { line.refuse("line", line.text, kOneColumn); }

void Columns::add_line(std::span<const Host> hosts, const HostEntry& line, bool is_wide) {
  const auto is_mixed = [&](const Pair& pair) { return has_both(sides(hosts, pair)); };
  if (std::any_of(kPairs.begin(), kPairs.end(), is_mixed) || !find_long_name(hosts).empty())
    refuse_columns(line);
  const auto is_pod = [](const Host& host) { return host.name.starts_with("pod/"); };
  if (std::ranges::any_of(hosts, is_pod) && !std::ranges::all_of(hosts, is_pod))
    line.refuse("line", line.text, kOneName);
  if (lines_++ == 0) {
    first_line_ = line.text;
    first_where_ = line.where;
    is_wide_ = is_wide;
  }
  if (width_ == 0) width_ = hosts.size();
  if (has_unlike_names(hosts) && hosts.size() == width_) ++lines_of_unlike_names_;
  hosts_.insert(hosts_.end(), hosts.begin(), hosts.end());
}

void Columns::finish(const std::string& where) const {
  if (lines_of_unlike_names_ == lines_ && (lines_ > 1 || is_wide_))
    HostEntry{first_line_, first_where_}.refuse("line", first_line_, kOneName);
  if (look_like_columns(hosts_))
    throw UsageError(fmt::format("{}: names beside addresses, or two addresses of each machine (expected {})",
                                 where, kOneColumn));
  if (const std::string_view name = find_long_name(hosts_); !name.empty())
    throw UsageError(
        fmt::format("{}: {:?} stands under its short name too (expected {})", where, name, kOneColumn));
}

}  // namespace podrun::hosts
