// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun {

/// One spelling for all that mean the same: lower case, no last dot, an address in its shortest form.
std::string canonical_name(std::string name);

/// The port that ssh goes to.
std::uint16_t port_of(const Host& host);

/// Recognises the machine that podrun runs on, by its addresses and names. `localhost` on a port other than
/// ssh's is some other machine at the end of a tunnel, or a container.
class ThisMachine {
 public:
  explicit ThisMachine(const Probe& probe);

  /// One more name of it.
  void add(const std::string& name);

  bool is(const Host& host) const;
  bool is_in(const std::vector<Host>& hosts) const;

  /// The same text and port for every spelling of one host.
  std::pair<std::string, std::uint16_t> key(const Host& host) const;

 private:
  std::set<std::string> names_;
};

}  // namespace podrun
