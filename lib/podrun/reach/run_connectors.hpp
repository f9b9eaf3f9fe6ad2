// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/link/link.hpp"
#include "podrun/local/descriptors.hpp"
#include "podrun/local/transport_commands.hpp"
#include "podrun/reach/reach_plan.hpp"
#include "podrun/reach/ssh_state.hpp"
#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/connector.hpp"
#include "podrun/ssh/transport/resolver.hpp"

namespace podrun::reach {

/// The hosts by what a link to each costs, of which at most `fanout` are connected at a time.
local::HostCount count_hosts(const ReachPlan& plan, const std::vector<hosts::Host>& hosts,
                             std::size_t fanout);

/// Times that hold for every host.
struct Times {
  std::chrono::seconds connect_timeout;
  std::chrono::seconds orphan_timeout;
};

/// Gives each host its connector: for this machine by a child, else by `via`, else SSH.
class Connectors {
 public:
  /// `descriptor_limit`: see ProcessOptions. The transport commands must outlive the context.
  Connectors(const std::shared_ptr<asio::io_context>& context, const ReachPlan& plan, const Times& times,
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

}  // namespace podrun::reach
