// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "podrun/hosts/probe.hpp"
#include "podrun/link/link.hpp"

#include "options.hpp"

namespace podrun {

/// Which way leads to which host.
class Connectors {
 public:
  /// Throws UsageError when there is no way to one of the hosts. `descriptor_limit`: see ProcessOptions.
  Connectors(const asio::any_io_executor& executor, const Options& options, const std::vector<Host>& hosts,
             const Probe& probe, std::size_t descriptor_limit);
  Connector& at(const Host& host) const { return host.kind == HostKind::local ? *local_ : *remote_; }

 private:
  std::unique_ptr<Connector> local_;
  std::unique_ptr<Connector> remote_;
};

}  // namespace podrun
