// SPDX-License-Identifier: Apache-2.0
// The output of a host after its command's end: who has it open, and whether the run still waits for it.
#include <utility>

#include "podrun/run/host_run.hpp"

namespace podrun::run {

void HostRun::let_go(bool hurried) {
  expect(attempt_.trailing.has_value(), "the policy lets go of output after the end of the command");
  Trailing& trailing = *attempt_.trailing;
  trailing.hurried = trailing.hurried || hurried;
  if (std::exchange(trailing.deciding, true)) {
    if (trailing.hurried) OutputHolders::hurry(trailing.holders);
    return;
  }
  if (!trailing.holders || !trailing.holders->is_asked()) {
    trailing.holders = std::make_shared<OutputHolders>(run_.world.executor);
    run_.spawn(OutputHolders::ask(trailing.holders, *attempt_.supervised));
  }
  run_.spawn(decide_on_trailing_output());
}

asio::awaitable<void> HostRun::decide_on_trailing_output() {
  const std::shared_ptr<OutputHolders> holders = attempt_.trailing->holders;
  co_await OutputHolders::wait(holders);
  if (is_over()) co_return;
  Trailing& trailing = *attempt_.trailing;
  const TrailingOutput::Fate fate =
      trailing.output.decide(holders->answer(), holders->names(), attempt_.reading_paused);
  // A host that is too busy to name the processes may still stop them.
  const bool may_be_stopped = trailing.hurried && holders->answer() != OutputHolders::Answer::nobody &&
                              holders->names().named.empty();
  if (fate == TrailingOutput::Fate::lingers || may_be_stopped) {
    linger();
    co_return;
  }
  if (!trailing.hurried && fate == TrailingOutput::Fate::looked_at_again) {
    trailing.deciding = false;
    run_.happen(event::StillArriving{host_});
    co_return;
  }
  report_output_open(notice::OutputOpen::Fate::let_go);
  attempt_.supervised->stop({.cause = link::Cause::let_go});
}

/// Continues the run, and tells the user, unless the processes are about to be stopped.
void HostRun::linger() {
  Trailing& trailing = *attempt_.trailing;
  trailing.deciding = false;
  trailing.hurried = false;
  if (!std::exchange(trailing.lingers, true) && run_.policy.presses() == 0 && !run_.policy.culprit())
    report_output_open(notice::OutputOpen::Fate::waits);
  run_.happen(event::Lingers{host_});
}

void HostRun::report_output_open(notice::OutputOpen::Fate fate) const {
  const std::shared_ptr<OutputHolders>& holders = attempt_.trailing->holders;
  const bool answers = holders && holders->answer() != OutputHolders::Answer::none;
  run_.world.tell(
      notice::OutputOpen{host_, fate, answers, holders ? holders->names() : supervisor::Holders()});
}

}  // namespace podrun::run
