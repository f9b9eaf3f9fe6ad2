// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/output/output.hpp"
#include "podrun/report/status_line_words.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/supervisor/protocol.hpp"

namespace podrun::report {

/// `lost: [3,7] connection: …`: the hosts `lost` with their reasons. Empty if no other host still runs,
/// because then the final report follows. Pure.
std::vector<std::string> describe_losses(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                         const std::vector<std::size_t>& lost);

/// `podrun: [3] exit 1; 7 still running (…)`; none if no other host still runs. Pure.
std::optional<std::string> describe_first_failure(const std::vector<hosts::Host>& hosts,
                                                  const run::RunPolicy& policy, std::size_t failed);

/// `podrun: [7] tpu-7: attempt 1 of 3: connecting: timed out after 10 s`: the hosts of `failures` that are
/// still not ready. `attempts`: how many each host has; 0: no limit. Pure.
std::vector<std::string> describe_retries(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                          const std::map<std::size_t, link::Failure>& failures,
                                          std::size_t attempts);

/// `podrun: [5] does not answer yet · Ctrl-C goes on without it`. Pure.
std::string late_line(const std::vector<hosts::Host>& hosts, const std::vector<std::size_t>& late,
                      std::string_view separator);

/// Whether the first failed attempt of a host and the first failed command are reported while the run goes
/// on. Not where the status line shows them.
enum class FirstFailures { told, not_told };

/// Reports lost hosts, failed first attempts, and the first host whose command failed, while others go on.
/// Gathers the events of a second or two into one report. The arguments must outlive it.
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
  void report();
  void report_retries();

  const run::RunPlan& plan_;
  const run::RunPolicy& policy_;
  output::Output& output_;
  asio::steady_timer timer_;
  asio::steady_timer retry_timer_;
  bool tells_retries_;
  bool tells_first_;
  bool waits_ = false;  ///< for timer_
  std::optional<std::size_t> first_;
  std::vector<std::size_t> lost_;
  std::map<std::size_t, link::Failure> failed_attempts_;  ///< by host
};

/// Whether the holders are more than one process.
bool is_several(const supervisor::Holders& holders);
/// `pid 7 (sleep), 8 (sh) and 2 more`
std::string describe(const supervisor::Holders& holders);

/// Worker numbers with the processes that have the output of the ended command open.
using Lingering = std::vector<std::pair<std::size_t, supervisor::Holders>>;

/// `[0-7] command ended; python3 (pid 7 on [0]) still has its output open. …`: a line for all hosts whose
/// first process has the same name. Each of `hosts` names a process. Pure.
std::vector<std::string> describe_lingering(const Lingering& hosts);

/// Reports hosts whose command has ended while the run still waits for its output; hosts of one second share
/// a line. `output` must outlive it.
class LingeringNotices {
 public:
  LingeringNotices(const asio::any_io_executor& executor, output::Output& output)
      : output_(output), timer_(executor) {}

  void add(std::size_t worker, supervisor::Holders holders);
  /// The host ended in the meantime: drops its report.
  void remove(std::size_t worker);

 private:
  output::Output& output_;
  asio::steady_timer timer_;
  Lingering unsaid_;
};

/// Reports the events of a run that the user must know, with `-v` every step. The arguments must outlive it.
/// `own_words`: may be empty.
class RunNotices {
 public:
  RunNotices(const asio::any_io_executor& executor, const run::RunPlan& plan, const run::RunPolicy& policy,
             output::Output& output, FirstFailures first_failures, OwnWordsFor own_words);

  void tell(const run::Notice& notice);

 private:
  void say(const run::notice::Connecting& connecting) { trace(1, connecting.host, "connecting"); }
  void say(const run::notice::AttemptLater& later);
  void say(const run::notice::Ready& ready) { trace(1, ready.host, "ready"); }
  void say(const run::notice::Waiting&) {}
  void say(const run::notice::Late&) {}  // late_line() follows what the mode shows
  void say(const run::notice::Started& started);
  void say(const run::notice::Signalled& signalled);
  void say(const run::notice::ToldToStop& told);
  void say(const run::notice::Abandoned& abandoned);
  void say(const run::notice::CommandEnded& ended);
  void say(const run::notice::OutputOpen& open);
  void say(const run::notice::LostAfterEnd& lost);
  void say(const run::notice::Failed& failed);
  void say(const run::notice::HostEnded& ended);
  void say(const run::notice::Interrupted& interrupted);
  void trace(int verbosity, std::size_t host, std::string_view text);

  const run::RunPlan& plan_;
  output::Output& output_;
  const OwnWordsFor own_words_;
  LingeringNotices lingering_;
  FailureNotices failures_;
};

}  // namespace podrun::report
