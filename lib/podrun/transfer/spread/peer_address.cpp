// SPDX-License-Identifier: Apache-2.0
// Which address of a host the others may connect to. A host could name any machine, or the others' own
// loopback, so podrun's own view of the address comes first.
#include "podrun/transfer/spread/peer_address.hpp"

#include <array>
#include <cstdint>
#include <system_error>

#include <asio/ip/address.hpp>

namespace podrun::transfer {
namespace {

using asio::ip::address;
using asio::ip::address_v4;
using asio::ip::address_v6;

enum class Reach { nobody, loopback, link, site, everybody };

struct Block {
  std::uint32_t first;
  unsigned bits;
};
constexpr std::array<Block, 2> kNobody{{{0x00000000, 8}, {0xe0000000, 3}}};  // 0/8, and from multicast on
constexpr Block kLink = {0xa9fe0000, 16};
constexpr std::array<Block, 4> kSite{{{0x0a000000, 8}, {0xac100000, 12}, {0xc0a80000, 16}, {0x64400000, 10}}};

bool is_in(std::uint32_t number, Block block) { return ((number ^ block.first) >> (32 - block.bits)) == 0; }

Reach reach_of(const address_v4& v4) {
  const std::uint32_t number = v4.to_uint();
  for (const Block& block : kNobody) {
    if (is_in(number, block)) return Reach::nobody;
  }
  if (v4.is_loopback()) return Reach::loopback;
  if (is_in(number, kLink)) return Reach::link;
  for (const Block& block : kSite) {
    if (is_in(number, block)) return Reach::site;
  }
  return Reach::everybody;
}

/// RFC 4291, RFC 4193. An address with a zone is another one on each host.
Reach reach_of(const address_v6& v6) {
  constexpr unsigned kUniqueLocal = 0xfc;
  const address_v6::bytes_type bytes = v6.to_bytes();
  if (v6.is_loopback()) return Reach::loopback;
  if (v6.is_unspecified() || v6.is_multicast() || v6.scope_id() != 0 || v6.is_link_local())
    return Reach::nobody;
  if (v6.is_site_local() || (bytes[0] & 0xfeU) == kUniqueLocal) return Reach::site;
  constexpr unsigned kGlobal = 0x20;  // 2000::/3: others embed an IPv4 address, or have no meaning
  return (bytes[0] & 0xe0U) == kGlobal ? Reach::everybody : Reach::nobody;
}

struct Place {
  explicit Place(std::string_view text) {
    std::error_code error;
    address parsed = asio::ip::make_address(std::string(text), error);
    if (error) return;
    if (parsed.is_v6() && parsed.to_v6().is_v4_mapped())
      parsed = asio::ip::make_address_v4(asio::ip::v4_mapped, parsed.to_v6());
    where = parsed;
    reach = parsed.is_v4() ? reach_of(parsed.to_v4()) : reach_of(parsed.to_v6());
  }

  address where = {};
  Reach reach = Reach::nobody;
};

/// A port of this machine, or of a jump host, that leads to the host: its address is not known.
bool is_forwarded(const Place& reached) {
  return reached.where == address_v4::loopback() || reached.where == address_v6::loopback();
}

/// Behind NAT a host knows its own address, and podrun another one.
bool is_plausible(const Place& claimed, const Place& reached, bool is_of_several) {
  if (claimed.reach != Reach::site && claimed.reach != Reach::everybody) return false;
  if (reached.reach == Reach::nobody || is_forwarded(reached)) return true;
  return claimed.reach == Reach::site && (is_of_several || reached.reach == Reach::everybody);
}

}  // namespace

std::string peer_address(std::string_view claimed, const Reached& reached) {
  const Place host(claimed);
  const Place ours(reached.address);
  if (is_plausible(host, ours, reached.is_of_several)) return host.where.to_string();
  return ours.reach == Reach::nobody ? std::string() : ours.where.to_string();
}

}  // namespace podrun::transfer
