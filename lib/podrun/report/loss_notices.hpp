// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/output/output.hpp"
#include "podrun/run/run_policy.hpp"

namespace podrun::report {

/// `lost: [3,7] connection: …`: the hosts `lost` with their reasons. Empty when no other host still runs,
/// because then the final report follows. Pure.
std::vector<std::string> describe_losses(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                         const std::vector<std::size_t>& lost);

/// Reports lost hosts while others go on; hosts lost within one second share a line. The arguments must
/// outlive it.
class LossNotices {
 public:
  LossNotices(const asio::any_io_executor& executor, const std::vector<hosts::Host>& hosts,
              const run::RunPolicy& policy, output::Output& output)
      : hosts_(hosts), policy_(policy), output_(output), timer_(executor) {}

  void host_ended(std::size_t host);

 private:
  const std::vector<hosts::Host>& hosts_;
  const run::RunPolicy& policy_;
  output::Output& output_;
  asio::steady_timer timer_;
  std::vector<std::size_t> unsaid_;
};

}  // namespace podrun::report
