// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/supervisor/command.hpp"
#include "podrun/supervisor/protocol.hpp"

namespace podrun::run {

/// A host of the run, and its hello (null until it is ready). `own_address`: see Link::own_address().
struct Member {
  const hosts::Host* host;
  const supervisor::Hello* hello;
  std::string own_address = {};
};

/// The variables with equal values on every host: all but rank, worker and host. Pure.
supervisor::RankVariables shared_variables(const std::vector<Member>& members, const std::string& run_id);

/// An address of rank 0 that the other hosts can use (PODRUN_HOST0): from its own answer, else from the list.
/// If rank 0 is this machine: podrun's end of a connection, else this machine's address as a host sees it.
/// Pure.
std::string address_of_rank0(const std::vector<Member>& members);

/// The go text for a run on a single host: its command need not wait for others and starts with the
/// supervisor, which saves a round trip. Empty if files must be sent first. Pure.
std::string early_go(const supervisor::RemoteCommand& command, const std::string& text_of_host,
                     const hosts::Host& host, const std::string& run_id);

}  // namespace podrun::run
