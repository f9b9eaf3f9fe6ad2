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
#include "podrun/local/process.hpp"
#include "podrun/reach/reach_plan.hpp"
#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/auth/identities.hpp"
#include "podrun/ssh/auth/login.hpp"
#include "podrun/ssh/connector.hpp"
#include "podrun/ssh/host_keys/host_keys.hpp"
#include "podrun/ssh/transport/resolver.hpp"

namespace podrun::reach {

/// Keys and host keys, read once for the run and kept when it starts again after a question.
struct SshState {
  /// Reads the keys of the user and of the hosts that SSH leads to.
  explicit SshState(const ReachPlan& plan) : identities(plan.home) { read(plan); }

  /// Reads the host keys again, and what is new of the rest.
  void read(const ReachPlan& plan) {
    host_keys.forget_files();
    for (const auto& [worker, settings] : plan.settings->by_worker) read(settings);
    for (const ssh::SshSettings& settings : plan.settings->of_jump_hosts) read(settings);
  }

  ssh::HostKeys host_keys;
  ssh::Identities identities;
  ssh::LoginMemory memory;

 private:
  void read(const ssh::SshSettings& settings) {
    host_keys.load(settings);
    identities.find(settings);
  }
};

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
