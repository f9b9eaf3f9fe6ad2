// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <asio/io_context.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/link/link.hpp"
#include "podrun/local/descriptors.hpp"
#include "podrun/local/transport_commands.hpp"
#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/connector.hpp"
#include "podrun/ssh/transport/resolver.hpp"

#include "cli/options.hpp"
#include "commands/plan.hpp"
#include "commands/ssh_state.hpp"

namespace podrun::commands {

/// Throws UsageError when `--via` cannot lead to one of the hosts.
void check_ways(const cli::Options& options, const std::vector<hosts::Host>& hosts);

/// What the ways to the hosts cost.
local::HostCount count_ways(const cli::Options& options, const Plan& plan);

/// The way to each host: none for this machine, else `--via`, else SSH.
class Connectors {
 public:
  /// `descriptor_limit`: see ProcessOptions. The transport commands must outlive the context.
  Connectors(const std::shared_ptr<asio::io_context>& context, const cli::Options& options, const Plan& plan,
             SshState& ssh, const hosts::Probe& probe, std::size_t descriptor_limit,
             local::TransportCommands& transports);
  Connectors(const Connectors&) = delete;
  Connectors& operator=(const Connectors&) = delete;

  link::Connector& at(const hosts::Host& host) const {
    return host.kind == hosts::HostKind::local ? *local_ : *remote_;
  }

 private:
  BlockingPool name_pool_;  ///< a name server that does not answer holds up no login
  ssh::Resolver resolver_;
  ssh::Agents agents_;
  BlockingPool agent_pool_;
  ssh::Credentials credentials_;
  std::unique_ptr<link::Connector> local_;
  std::unique_ptr<link::Connector> remote_;
};

}  // namespace podrun::commands
