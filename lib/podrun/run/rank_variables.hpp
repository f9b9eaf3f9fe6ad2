// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/remote/command.hpp"
#include "podrun/remote/protocol.hpp"

namespace podrun::run {

/// A host of the run, what it said when it became ready (null: it has not), and see Link::own_address().
struct Member {
  const hosts::Host* host;
  const remote::Hello* hello;
  std::string own_address = {};
};

/// What is the same on every host of the run: all but rank, worker and host. Pure.
remote::RankVariables shared_variables(const std::vector<Member>& members, const std::string& run_id);

/// An address of rank 0 that the other hosts can use (PODRUN_HOST0): what it says itself, else what the list
/// says; when rank 0 is this machine, our end of a connection, else what a host says of that. Pure.
std::string address_of_rank0(const std::vector<Member>& members);

/// The go text of a host that is alone: it need not wait for others, and its command starts with the
/// supervisor, which saves a round trip. Empty: it cannot, since files go before. Pure.
std::string early_go(const remote::RemoteCommand& command, const hosts::Host& host,
                     const std::string& run_id);

}  // namespace podrun::run
