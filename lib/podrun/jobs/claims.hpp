// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/remote/supervised.hpp"

namespace podrun::jobs {

/// Reserves the name of a job on every host of a run, until the run ends. The first host is asked before the
/// others, so that of two people who start a job of one name at the same moment, one gets it everywhere.
class Claims {
 public:
  Claims(std::string name, std::vector<hosts::Host> hosts, std::string run_id);

  /// Call this before each attempt of the run.
  void begin_attempt();
  /// Reserves it on one host. Throws HostError.
  asio::awaitable<void> take(std::size_t host, remote::Supervised& supervised);

 private:
  asio::awaitable<void> let_others_go_on();

  const std::string name_;
  const std::vector<hosts::Host> hosts_;
  const std::string run_id_;
  bool first_has_it_ = false;
  std::vector<std::shared_ptr<link::Stream>> waiting_ = {};  ///< of hosts whose program waits for a line
  std::vector<std::shared_ptr<link::Stream>> kept_;  ///< of each host: the program ends with the stream
};

}  // namespace podrun::jobs
