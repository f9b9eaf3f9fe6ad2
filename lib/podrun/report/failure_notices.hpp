// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
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

/// `podrun: [3] exit 1; 7 still running (…)`; none when no other host still runs. Pure.
std::optional<std::string> describe_first_failure(const std::vector<hosts::Host>& hosts,
                                                  const run::RunPolicy& policy, std::size_t failed);

/// Whether the first failed command is reported while others go on: not where the status line shows it.
enum class FirstFailure { told, not_told };

/// Reports lost hosts, and the first host whose command failed, while others go on; what happens within one
/// second is told together. The arguments must outlive it.
class FailureNotices {
 public:
  FailureNotices(const asio::any_io_executor& executor, const std::vector<hosts::Host>& hosts,
                 const run::RunPolicy& policy, output::Output& output, FirstFailure first_failure)
      : hosts_(hosts),
        policy_(policy),
        output_(output),
        timer_(executor),
        tells_first_(first_failure == FirstFailure::told) {}

  void host_ended(std::size_t host);

 private:
  void tell();

  const std::vector<hosts::Host>& hosts_;
  const run::RunPolicy& policy_;
  output::Output& output_;
  asio::steady_timer timer_;
  bool tells_first_;
  bool waits_ = false;  ///< for the end of the second
  std::optional<std::size_t> first_;
  std::vector<std::size_t> lost_;
};

}  // namespace podrun::report
