// SPDX-License-Identifier: Apache-2.0
// Recognises this machine among hosts, and equal hosts under different names.
#include "podrun/hosts/this_machine.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

namespace podrun::hosts {
namespace {

bool is_forwarded_port(const Host& host) {
  const std::string name = canonical_name(address_of(host));
  return (name == "localhost" || name == "127.0.0.1" || name == "::1") && port_of(host) != kSshPort;
}

}  // namespace

std::string canonical_name(std::string name) {
  std::array<unsigned char, sizeof(in6_addr)> binary;
  std::array<char, INET6_ADDRSTRLEN> text;
  if (inet_pton(AF_INET6, name.c_str(), binary.data()) == 1) {
    return inet_ntop(AF_INET6, binary.data(), text.data(), text.size());
  }
  if (name.ends_with('.')) name.pop_back();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

std::uint16_t port_of(const Host& host) { return host.port == 0 ? kSshPort : host.port; }

ThisMachine::ThisMachine(const Probe& probe) {
  for (std::string& name : probe.own_names()) names_.insert(canonical_name(std::move(name)));
}

bool ThisMachine::is(const Host& host) const {
  return host.kind == HostKind::local ||
         (names_.contains(canonical_name(address_of(host))) && !is_forwarded_port(host));
}

std::pair<std::string, std::uint16_t> ThisMachine::key(const Host& host) const {
  const bool by_network = host.kind == HostKind::remote && is(host);
  return {by_network ? "localhost" : canonical_name(address_of(host)), port_of(host)};
}

}  // namespace podrun::hosts
