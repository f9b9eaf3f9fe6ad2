// SPDX-License-Identifier: Apache-2.0
// Messages while a run goes on: the trace of -v; and without it lost hosts, failed attempts, the first
// failure, and output that stays open after its command.
#include "podrun/report/run_notices.hpp"

#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {
namespace {

/// Events of this time are reported together.
constexpr std::chrono::seconds kTogether{1};
/// Failed first attempts wait this long, since a second attempt may succeed.
constexpr std::chrono::seconds kRetriesTogether{2};

/// The number of hosts on which the command, or a process that it left, still runs.
std::size_t count_running(const run::RunPolicy& policy, std::size_t hosts) {
  std::size_t running = 0;
  for (std::size_t host = 0; host < hosts; ++host) {
    const run::RunPolicy::State state = policy.state(host);
    if (state == run::RunPolicy::State::running || state == run::RunPolicy::State::lingering) ++running;
  }
  return running;
}

/// The process that is likely to have started the others.
const supervisor::Holder& oldest(const supervisor::Holders& holders) {
  const auto number = [](const supervisor::Holder& holder) {
    return std::pair(holder.pid.size(), holder.pid);
  };
  return *std::min_element(
      holders.named.begin(), holders.named.end(),
      [&](const supervisor::Holder& a, const supervisor::Holder& b) { return number(a) < number(b); });
}

/// Hosts whose process with the open output has the same name.
struct LingeringGroup {
  std::vector<std::size_t> workers;
  std::size_t first = 0;        ///< the smallest label
  supervisor::Holders holders;  ///< on that host
};

std::string describe_group(const LingeringGroup& group) {
  const bool several = is_several(group.holders);
  const supervisor::Holder& named = oldest(group.holders);
  const std::string who = group.workers.size() == 1
                              ? describe(group.holders)
                              : fmt::format("{} (pid {} on [{}]){}", output::escape_controls(named.name),
                                            named.pid, group.first, several ? " and others" : "");
  return fmt::format(
      "podrun: [{}] command ended; {} still {} output open. Ctrl-C stops {}; to leave {} running, "
      "redirect {} output (> log 2>&1)",
      fold_workers(group.workers), who, several ? "have their" : "has its", several ? "them" : "it",
      several ? "them" : "it", several ? "their" : "its");
}

std::string describe_open(const run::notice::OutputOpen& open) {
  const bool is_known = open.fate == run::notice::OutputOpen::Fate::let_go;
  if (is_known && !open.host_answers) return "its host does not answer";
  if (!is_known || open.holders.named.empty()) return "something still has its output open";
  return fmt::format("{} still {} output open", describe(open.holders),
                     is_several(open.holders) ? "have their" : "has its");
}

}  // namespace

std::vector<std::string> describe_losses(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                         const std::vector<std::size_t>& lost) {
  if (count_running(policy, hosts.size()) == 0) return {};
  std::vector<run::HostOutcome> outcomes(hosts.size());
  for (const std::size_t host : lost) outcomes[host] = policy.outcomes()[host];
  return describe_failures(hosts, outcomes);
}

std::optional<std::string> describe_first_failure(const std::vector<hosts::Host>& hosts,
                                                  const run::RunPolicy& policy, std::size_t failed) {
  const std::size_t running = count_running(policy, hosts.size());
  if (running == 0) return std::nullopt;
  return fmt::format("podrun: [{}] {}; {} still running (-k stops the others at the first failure)",
                     hosts[failed].worker, describe(policy.outcomes()[failed]), running);
}

std::vector<std::string> describe_retries(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                                          const std::map<std::size_t, link::Failure>& failures,
                                          std::size_t attempts) {
  using State = run::RunPolicy::State;
  std::vector<run::HostOutcome> outcomes(hosts.size());
  for (const auto& [host, failure] : failures) {
    const State state = policy.state(host);
    if (state == State::waiting || state == State::connecting) outcomes[host] = run::Unreachable{failure};
  }
  const std::string of = attempts == 0 ? "" : fmt::format(" of {}", attempts);
  std::vector<std::string> lines;
  for (const run::OutcomeGroup& group : run::group_outcomes(outcomes)) {
    if (const link::Failure* failure = run::failure_of(group.outcome))
      lines.push_back(fmt::format("podrun: {}: attempt 1{}: {}", output::name_hosts(hosts, group.hosts), of,
                                  describe(*failure)));
  }
  return lines;
}

std::string late_line(const std::vector<hosts::Host>& hosts, const std::vector<std::size_t>& late,
                      std::string_view separator) {
  const bool one = late.size() == 1;
  return fmt::format("podrun: {} {} not answer yet{}Ctrl-C goes on without {}",
                     output::fold_hosts(hosts, late), one ? "does" : "do", separator, one ? "it" : "them");
}

void FailureNotices::attempt_failed(const run::notice::AttemptLater& later) {
  if (!tells_retries_ || later.attempt != 2) return;
  failed_attempts_.emplace(later.host, later.failure);
  if (failed_attempts_.size() > 1) return;  // the timer runs
  retry_timer_.expires_after(kRetriesTogether);
  retry_timer_.async_wait([this](const std::error_code& error) {
    if (!error) report_retries();
  });
}

void FailureNotices::report_retries() {
  const std::size_t attempts = plan_.limits.wait ? 0 : plan_.limits.retries + 1;
  for (std::string& line :
       describe_retries(plan_.hosts, policy_, std::exchange(failed_attempts_, {}), attempts))
    output_.say(std::move(line));
}

void FailureNotices::host_ended(std::size_t host) {
  const run::HostOutcome& outcome = policy_.outcomes()[host];
  const bool is_lost = std::holds_alternative<run::Lost>(outcome);
  const bool is_ended =
      std::holds_alternative<link::Exited>(outcome) || std::holds_alternative<link::Signaled>(outcome);
  if (is_lost) lost_.push_back(host);
  if (tells_first_ && is_ended && run::is_failure(outcome) && !policy_.culprit() &&
      !policy_.interrupted_by()) {
    tells_first_ = false;
    first_ = host;
  } else if (!is_lost) {
    return;
  }
  if (std::exchange(waits_, true)) return;
  timer_.expires_after(kTogether);
  timer_.async_wait([this](const std::error_code& error) {
    if (!error) report();
  });
}

void FailureNotices::report() {
  waits_ = false;
  for (std::string& line : describe_losses(plan_.hosts, policy_, std::exchange(lost_, {})))
    output_.say(std::move(line));
  if (!first_) return;
  auto line = describe_first_failure(plan_.hosts, policy_, *first_);
  if (line && !policy_.interrupted_by()) output_.say(std::move(*line));
  first_.reset();
}

bool is_several(const supervisor::Holders& holders) { return holders.named.size() + holders.more > 1; }

std::string describe(const supervisor::Holders& holders) {
  std::string all;
  for (const supervisor::Holder& holder : holders.named)
    all += fmt::format("{}{} ({})", all.empty() ? "pid " : ", ", holder.pid,
                       output::escape_controls(holder.name));
  return all + (holders.more > 0 ? fmt::format(" and {} more", holders.more) : "");
}

std::vector<std::string> describe_lingering(const Lingering& hosts) {
  std::map<std::string, LingeringGroup> groups;  // by the name of a process: pids and passing children differ
  for (const auto& [worker, holders] : hosts) {
    LingeringGroup& group = groups[oldest(holders).name];
    if (group.workers.empty() || worker < group.first) {
      group.first = worker;
      group.holders = holders;
    }
    group.workers.push_back(worker);
  }
  std::vector<std::string> lines;
  for (const auto& [name, group] : groups) lines.push_back(describe_group(group));
  return lines;
}

void LingeringNotices::add(std::size_t worker, supervisor::Holders holders) {
  unsaid_.emplace_back(worker, std::move(holders));
  if (unsaid_.size() > 1) return;
  timer_.expires_after(kTogether);
  timer_.async_wait([this](const std::error_code& error) {
    if (error) return;
    for (std::string& line : describe_lingering(unsaid_)) output_.say(std::move(line));
    unsaid_.clear();
  });
}

void LingeringNotices::remove(std::size_t worker) {
  std::erase_if(unsaid_, [worker](const auto& host) { return host.first == worker; });
}

RunNotices::RunNotices(const asio::any_io_executor& executor, const run::RunPlan& plan,
                       const run::RunPolicy& policy, output::Output& output, FirstFailures first_failures,
                       OwnWordsFor own_words)
    : plan_(plan),
      output_(output),
      own_words_(std::move(own_words)),
      lingering_(executor, output),
      failures_(executor, plan, policy, output, first_failures) {}

void RunNotices::tell(const run::Notice& notice) {
  std::visit([this](const auto& what) { say(what); }, notice);
}

void RunNotices::say(const run::notice::AttemptLater& later) {
  const std::string of = plan_.limits.wait ? "" : fmt::format(" of {}", plan_.limits.retries + 1);
  trace(1, later.host,
        fmt::format("attempt {}{} in {:.1f} s ({})", later.attempt, of,
                    std::chrono::duration<double>(later.delay).count(), describe(later.failure)));
  if (plan_.verbosity == 0) failures_.attempt_failed(later);
}

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
  std::optional<OwnWords> own =
      own_words_ ? own_words_(interrupted.status, std::chrono::steady_clock::now()) : std::nullopt;
  std::string line =
      own ? std::move(own->interrupt_line) : interrupt_line(interrupted.status, interrupted.signal);
  if (!line.empty()) output_.say(std::move(line));
}

void RunNotices::trace(int verbosity, std::size_t host, std::string_view text) {
  if (plan_.verbosity < verbosity) return;
  output_.say(fmt::format("podrun: [{}] {}: {}", plan_.hosts[host].worker, plan_.hosts[host].name, text));
}

}  // namespace podrun::report
