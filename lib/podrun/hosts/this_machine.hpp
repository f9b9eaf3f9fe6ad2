// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {

/// One spelling for equal names: lower case, no final dot, an address in its shortest form.
std::string canonical_name(std::string name);

/// The port for ssh to connect to.
std::uint16_t port_of(const Host& host);

/// Recognises the machine that podrun runs on, by its addresses and names. `localhost` on a port other than
/// 22 is another machine reached through a tunnel, or a container.
class ThisMachine {
 public:
  explicit ThisMachine(const Probe& probe);

  /// Adds a name of this machine.
  void add(const std::string& name) { names_.insert(canonical_name(name)); }

  bool is(const Host& host) const;
  bool is_in(const std::vector<Host>& hosts) const {
    return std::any_of(hosts.begin(), hosts.end(), [this](const Host& host) { return is(host); });
  }

  /// A name and port that are equal for all spellings of one host.
  std::pair<std::string, std::uint16_t> key(const Host& host) const;

 private:
  std::set<std::string> names_;
};

}  // namespace podrun::hosts
