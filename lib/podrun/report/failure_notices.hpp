// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/output/output.hpp"
#include "podrun/run/notice.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/run/run_policy.hpp"

namespace podrun::report {

/// `lost: [3,7] connection: …`: the hosts `lost` with their reasons. Empty when no other host still runs,
/// because then the final report follows. Pure.
std::vector<std::string> describe_losses(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                         const std::vector<std::size_t>& lost);

/// `podrun: [3] exit 1; 7 still running (…)`; none when no other host still runs. Pure.
std::optional<std::string> describe_first_failure(const std::vector<hosts::Host>& hosts,
                                                  const run::RunPolicy& policy, std::size_t failed);

/// `podrun: [7] tpu-7: attempt 1 of 3: connecting: timed out after 10 s`: the hosts of `failures` that are
/// still not ready. `attempts`: how many each host has; 0: no limit. Pure.
std::vector<std::string> describe_retries(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                          const std::map<std::size_t, link::Failure>& failures,
                                          std::size_t attempts);

/// Whether first failures (of a host's attempts to connect, of a command) are reported while the run goes on:
/// not where the status line shows them.
enum class FirstFailures { told, not_told };

/// Reports lost hosts, failed first attempts, and the first host whose command failed, while others go on;
/// what happens within a second or two is told together. The arguments must outlive it.
class FailureNotices {
 public:
  FailureNotices(const asio::any_io_executor& executor, const run::RunPlan& plan,
                 const run::RunPolicy& policy, output::Output& output, FirstFailures first_failures)
      : plan_(plan),
        policy_(policy),
        output_(output),
        timer_(executor),
        retry_timer_(executor),
        tells_retries_(first_failures == FirstFailures::told),
        tells_first_(first_failures == FirstFailures::told) {}

  void attempt_failed(const run::notice::AttemptLater& later);
  void host_ended(std::size_t host);

 private:
  void tell();
  void tell_retries();

  const run::RunPlan& plan_;
  const run::RunPolicy& policy_;
  output::Output& output_;
  asio::steady_timer timer_;
  asio::steady_timer retry_timer_;
  bool tells_retries_;
  bool tells_first_;
  bool waits_ = false;  ///< for the end of the second
  std::optional<std::size_t> first_;
  std::vector<std::size_t> lost_;
  std::map<std::size_t, link::Failure> failed_attempts_;  ///< by host
};

}  // namespace podrun::report
