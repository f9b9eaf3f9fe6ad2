// SPDX-License-Identifier: Apache-2.0
// The words for what happens while a run goes on: the trace of -v, and what a person is to know without it.
#include "podrun/report/run_notices.hpp"

#include <string.h>  // sigabbrev_np

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/report/failure_words.hpp"
#include "podrun/report/status_words.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::report {
namespace {

std::string describe_open(const run::notice::OutputOpen& open) {
  const bool is_known = open.fate == run::notice::OutputOpen::Fate::let_go;
  if (is_known && !open.host_answers) return "its host does not answer";
  if (!is_known || open.holders.named.empty()) return "something still has its output open";
  return fmt::format("{} still {} output open", describe(open.holders),
                     is_several(open.holders) ? "have their" : "has its");
}

}  // namespace

RunNotices::RunNotices(const asio::any_io_executor& executor, const run::RunPlan& plan,
                       const run::RunPolicy& policy, output::Output& output, FirstFailures first_failures)
    : plan_(plan),
      output_(output),
      lingering_(executor, output),
      failures_(executor, plan, policy, output, first_failures) {}

void RunNotices::tell(const run::Notice& notice) {
  std::visit([this](const auto& what) { say(what); }, notice);
}

void RunNotices::say(const run::notice::Connecting& connecting) { trace(1, connecting.host, "connecting"); }

void RunNotices::say(const run::notice::AttemptLater& later) {
  const std::string of = plan_.limits.wait ? "" : fmt::format(" of {}", plan_.limits.retries + 1);
  trace(1, later.host,
        fmt::format("attempt {}{} in {:.1f} s ({})", later.attempt, of,
                    std::chrono::duration<double>(later.delay).count(), describe(later.failure)));
  if (plan_.verbosity == 0) failures_.attempt_failed(later);
}

void RunNotices::say(const run::notice::Ready& ready) { trace(1, ready.host, "ready"); }

void RunNotices::say(const run::notice::Started& started) {
  trace(2, started.host, started.with_supervisor ? "go (with the supervisor)" : "go");
}

void RunNotices::say(const run::notice::Signalled& signalled) {
  trace(2, signalled.host, fmt::format("sig {}", ::sigabbrev_np(signalled.signal)));
}

void RunNotices::say(const run::notice::ToldToStop& told) {
  trace(2, told.host, "end of input: TERM, grace, KILL");
}

void RunNotices::say(const run::notice::Abandoned& abandoned) {
  trace(2, abandoned.host, "abandoned: " + describe(abandoned.failure));
}

void RunNotices::say(const run::notice::CommandEnded& ended) {
  trace(1, ended.host, std::visit([](auto end) { return describe(run::HostOutcome(end)); }, ended.end));
}

void RunNotices::say(const run::notice::OutputOpen& open) {
  const std::size_t worker = plan_.hosts[open.host].worker;
  if (open.fate == run::notice::OutputOpen::Fate::waits) {
    lingering_.add(worker, open.holders);
  } else {
    output_.say(
        fmt::format("podrun: [{}] command ended; {}, not waiting for it", worker, describe_open(open)));
  }
}

void RunNotices::say(const run::notice::LostAfterEnd& lost) {
  output_.say(
      fmt::format("podrun: [{}] connection lost after the command ended; output may be incomplete: {}",
                  plan_.hosts[lost.host].worker, describe(lost.failure)));
}

void RunNotices::say(const run::notice::Failed& failed) { trace(1, failed.host, describe(failed.failure)); }

void RunNotices::say(const run::notice::HostEnded& ended) {
  lingering_.remove(plan_.hosts[ended.host].worker);
  failures_.host_ended(ended.host);
}

void RunNotices::say(const run::notice::Interrupted& interrupted) {
  std::string line = interrupt_line(interrupted.status, interrupted.signal);
  if (!line.empty()) output_.say(std::move(line));
}

void RunNotices::trace(int verbosity, std::size_t host, std::string_view text) {
  if (plan_.verbosity < verbosity) return;
  output_.say(fmt::format("podrun: [{}] {}: {}", plan_.hosts[host].worker, plan_.hosts[host].name, text));
}

}  // namespace podrun::report
