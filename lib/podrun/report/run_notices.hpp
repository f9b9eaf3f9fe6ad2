// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <asio/any_io_executor.hpp>

#include "podrun/output/output.hpp"
#include "podrun/report/failure_notices.hpp"
#include "podrun/report/lingering_notices.hpp"
#include "podrun/run/notice.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/run/run_policy.hpp"

namespace podrun::report {

/// Reports what happens in a run: always what the user must know, with `-v` every step. The arguments must
/// outlive it.
class RunNotices {
 public:
  RunNotices(const asio::any_io_executor& executor, const run::RunPlan& plan, const run::RunPolicy& policy,
             output::Output& output, FirstFailures first_failures);

  void tell(const run::Notice& notice);

 private:
  void say(const run::notice::Connecting& connecting);
  void say(const run::notice::AttemptLater& later);
  void say(const run::notice::Ready& ready);
  void say(const run::notice::Waiting&) {}
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
  LingeringNotices lingering_;
  FailureNotices failures_;
};

}  // namespace podrun::report
