// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/summary.hpp"

#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <array>
#include <csignal>

#include <fmt/format.h>

#include "podrun/base/duration.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/remote/protocol.hpp"
#include "podrun/run/outcome_groups.hpp"

namespace podrun {
namespace {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

/// ` (3 attempts)`, ` (1 to 3 attempts)`; nothing for one.
std::string describe_attempts(std::size_t fewest, std::size_t most) {
  if (most == 1) return "";
  return fewest == most ? fmt::format(" ({} attempts)", most)
                        : fmt::format(" ({} to {} attempts)", fewest, most);
}

struct Description {
  std::string operator()(const NotStarted&) const { return "not started"; }
  std::string operator()(const Stopped&) const { return "ended by podrun"; }
  std::string operator()(const Exited& exited) const {
    if (exited.status == 0) return "ok";
    // A shell reports a signal like this, and the supervisor is one.
    if (exited.status > 128 && exited.status <= 128 + 64 && ::sigabbrev_np(exited.status - 128)) {
      return fmt::format("exit {} ({})", exited.status, signal_name(exited.status - 128));
    }
    return fmt::format("exit {}", exited.status);
  }
  std::string operator()(const Signaled& signaled) const {
    return "killed by " + signal_name(signaled.signal);
  }
  std::string operator()(const TimedOut& timed_out) const {
    return "timed out after " + format_duration(timed_out.limit);
  }
  std::string operator()(const Lost& lost) const { return "lost: " + describe(lost.failure); }
  std::string operator()(const Unreachable& unreachable) const {
    const char* word = is_refusal(unreachable.failure) ? "not ready" : "unreachable";
    return fmt::format("{}: {}{}", word, describe(unreachable.failure),
                       describe_attempts(unreachable.attempts, unreachable.attempts));
  }
};

/// `ok 29`, `exit 1: [3,17]`, `unreachable: [41] tpu-41: connection refused`
std::string describe(const OutcomeGroup& of, const std::vector<Host>& hosts) {
  if (of.outcome == HostOutcome(Exited{0})) return fmt::format("ok {}", of.hosts.size());
  if (std::holds_alternative<NotStarted>(of.outcome)) return fmt::format("not started {}", of.hosts.size());
  const std::string text = podrun::describe(of.outcome);
  const Failure* failure = failure_of(of.outcome);
  const std::string ranks = fold_labels(hosts, of.hosts);
  if (!failure) return fmt::format("{}: {}", text, ranks);
  const std::string name = of.hosts.size() == 1 ? hosts[of.hosts.front()].name + ": " : "";
  return fmt::format("{}: {} {}{}{}", text.substr(0, text.find(':')), ranks, name, podrun::describe(*failure),
                     describe_attempts(of.fewest_attempts, of.most_attempts));
}

}  // namespace

std::string describe(const Failure& failure) {
  return escape_controls(failure.stage.empty() ? failure.what
                                               : fmt::format("{}: {}", failure.stage, failure.what));
}

std::string describe(const HostOutcome& outcome) { return std::visit(Description{}, outcome); }

std::vector<std::string> describe_failures(const std::vector<Host>& hosts,
                                           const std::vector<HostOutcome>& outcomes) {
  std::vector<std::string> lines;
  for (const OutcomeGroup& group : group_outcomes(outcomes)) {
    if (is_failure(group.outcome)) lines.push_back("podrun: " + describe(group, hosts));
  }
  return lines;
}

std::vector<std::string> summarize(const std::vector<Host>& hosts, const std::vector<HostOutcome>& outcomes,
                                   std::optional<std::size_t> culprit, std::optional<int> interrupted_by,
                                   std::string_view separator) {
  std::vector<std::string> lines;
  const bool all_well = std::all_of(outcomes.begin(), outcomes.end(), [](const HostOutcome& outcome) {
    return outcome == HostOutcome(Exited{0});
  });
  const bool failed = std::any_of(outcomes.begin(), outcomes.end(), is_failure);
  if (all_well && !interrupted_by) return lines;
  if (interrupted_by == SIGPIPE && !failed) return lines;  // `| head` is no accident
  std::string line;
  bool started = false;
  for (const OutcomeGroup& each : group_outcomes(outcomes)) {
    if (!line.empty()) line += separator;
    line += describe(each, hosts);
    started = started || !(std::holds_alternative<NotStarted>(each.outcome) ||
                           std::holds_alternative<Unreachable>(each.outcome));
  }
  lines.push_back("podrun: " + line);
  if (interrupted_by) lines.push_back(fmt::format("podrun: interrupted ({})", signal_name(*interrupted_by)));
  const bool ended_others = std::any_of(outcomes.begin(), outcomes.end(), [](const HostOutcome& outcome) {
    return std::holds_alternative<Stopped>(outcome) || std::holds_alternative<NotStarted>(outcome);
  });
  if (culprit && ended_others) {
    lines.push_back(fmt::format("podrun: {} {} failed first ({}), so the others were ended",
                                fold_labels(hosts, std::array{*culprit}), hosts[*culprit].name,
                                describe(outcomes[*culprit])));
  }
  if (!started) lines.emplace_back("podrun: nothing was started on any host");
  return lines;
}

}  // namespace podrun
