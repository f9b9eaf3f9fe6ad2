// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <asio/io_context.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/link/link.hpp"
#include "podrun/local/descriptors.hpp"
#include "podrun/ssh/agent.hpp"
#include "podrun/ssh/connector.hpp"
#include "podrun/ssh/resolver.hpp"

#include "options.hpp"
#include "plan.hpp"
#include "ssh_state.hpp"

namespace podrun {

/// Throws UsageError when `--via` cannot lead to one of the hosts.
void check_ways(const Options& options, const std::vector<Host>& hosts);

/// What the ways to the hosts cost.
HostCount count_ways(const Options& options, const Plan& plan);

/// The way to each host: none for this machine, else `--via`, else SSH.
class Connectors {
 public:
  /// `descriptor_limit`: see ProcessOptions.
  Connectors(const std::shared_ptr<asio::io_context>& context, const Options& options, const Plan& plan,
             SshState& ssh, const Probe& probe, std::size_t descriptor_limit);
  Connectors(const Connectors&) = delete;
  Connectors& operator=(const Connectors&) = delete;

  Connector& at(const Host& host) const { return host.kind == HostKind::local ? *local_ : *remote_; }

 private:
  BlockingPool name_pool_;  ///< a name server that does not answer holds up no login
  Resolver resolver_;
  Agents agents_;
  BlockingPool agent_pool_;
  Credentials credentials_;
  std::unique_ptr<Connector> local_;
  std::unique_ptr<Connector> remote_;
};

}  // namespace podrun
