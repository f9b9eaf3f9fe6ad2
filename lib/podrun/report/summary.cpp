// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/summary.hpp"

#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/duration.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/label.hpp"
#include "podrun/remote/protocol.hpp"
#include "podrun/report/failure_words.hpp"
#include "podrun/run/outcome_groups.hpp"

namespace podrun::report {
namespace {

using run::HostOutcome;
using run::OutcomeGroup;

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

std::string_view word_for(const run::Unreachable& unreachable) {
  return remote::is_refusal(unreachable.failure) ? "not ready" : "unreachable";
}

struct Description {
  std::string operator()(const run::NotStarted&) const { return "not started"; }
  std::string operator()(const run::Stopped&) const { return "stopped by podrun"; }
  std::string operator()(const link::Exited& exited) const {
    if (exited.status == 0) return "ok";
    // A shell reports a signal like this, and the supervisor is one.
    if (exited.status > 128 && exited.status <= 128 + 64 && ::sigabbrev_np(exited.status - 128)) {
      return fmt::format("exit {} ({})", exited.status, signal_name(exited.status - 128));
    }
    return fmt::format("exit {}", exited.status);
  }
  std::string operator()(const link::Signaled& signaled) const {
    return "killed by " + signal_name(signaled.signal);
  }
  std::string operator()(const run::TimedOut& timed_out) const {
    return "timed out after " + format_duration(timed_out.limit);
  }
  std::string operator()(const run::Lost& lost) const { return "lost: " + describe(lost.failure); }
  std::string operator()(const run::Unreachable& unreachable) const {
    return fmt::format("{}: {}{}", word_for(unreachable), describe(unreachable.failure),
                       describe_attempts(unreachable.attempts, unreachable.attempts));
  }
};

/// Hosts that timed out did so with the culprit: it has ended all whose time was not over yet.
std::vector<std::size_t> failed_first(const std::vector<HostOutcome>& outcomes, std::size_t culprit) {
  if (!std::holds_alternative<run::TimedOut>(outcomes[culprit])) return {culprit};
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    if (outcomes[host] == outcomes[culprit]) hosts.push_back(host);
  }
  return hosts;
}

/// `ok 29`, `exit 1: [3,17]`, `unreachable: [41] tpu-41: connection refused`
std::string describe(const OutcomeGroup& of, const std::vector<hosts::Host>& hosts) {
  if (of.outcome == HostOutcome(link::Exited{0})) return fmt::format("ok {}", of.hosts.size());
  if (std::holds_alternative<run::NotStarted>(of.outcome))
    return fmt::format("not started {}", of.hosts.size());
  const link::Failure* failure = run::failure_of(of.outcome);
  const std::string workers = output::fold_hosts(hosts, of.hosts);
  if (!failure) return fmt::format("{}: {}", report::describe(of.outcome), workers);
  const auto* unreachable = std::get_if<run::Unreachable>(&of.outcome);
  const std::string name = of.hosts.size() == 1 ? hosts[of.hosts.front()].name + ": " : "";
  return fmt::format("{}: {} {}{}{}", unreachable ? word_for(*unreachable) : "lost", workers, name,
                     report::describe(*failure), describe_attempts(of.fewest_attempts, of.most_attempts));
}

bool has_changed_key(const OutcomeGroup& group) {
  const link::Failure* failure = run::failure_of(group.outcome);
  return failure && failure->cause == link::Cause::host_key_changed && failure->jump_hosts.empty();
}

/// Each host has keys of its own, so that every one would be a group: of several, one text tells all.
std::vector<std::string> describe(const std::vector<OutcomeGroup>& groups,
                                  const std::vector<hosts::Host>& hosts) {
  std::vector<std::size_t> changed;
  for (const OutcomeGroup& group : groups) {
    if (has_changed_key(group)) changed.insert(changed.end(), group.hosts.begin(), group.hosts.end());
  }
  std::vector<std::string> texts;
  bool told = false;
  for (const OutcomeGroup& group : groups) {
    if (changed.size() < 2 || !has_changed_key(group)) {
      texts.push_back(describe(group, hosts));
    } else if (!std::exchange(told, true)) {
      std::sort(changed.begin(), changed.end());
      texts.push_back(
          fmt::format("unreachable: {} the host keys have changed (if these hosts were recreated: "
                      "podrun hosts --forget-keys; -v shows the keys)",
                      output::fold_hosts(hosts, changed)));
    }
  }
  return texts;
}

}  // namespace

std::string describe(const HostOutcome& outcome) { return std::visit(Description{}, outcome); }

std::vector<std::string> describe_failures(const std::vector<hosts::Host>& hosts,
                                           const std::vector<HostOutcome>& outcomes) {
  std::vector<std::string> lines;
  for (const OutcomeGroup& group : run::group_outcomes(outcomes)) {
    if (run::is_failure(group.outcome)) lines.push_back("podrun: " + describe(group, hosts));
  }
  return lines;
}

std::vector<std::string> summarize(const std::vector<hosts::Host>& hosts,
                                   const std::vector<HostOutcome>& outcomes,
                                   std::optional<std::size_t> culprit, std::optional<int> interrupted_by,
                                   std::string_view separator) {
  std::vector<std::string> lines;
  const bool all_well = std::all_of(outcomes.begin(), outcomes.end(), [](const HostOutcome& outcome) {
    return outcome == HostOutcome(link::Exited{0});
  });
  const bool failed = std::any_of(outcomes.begin(), outcomes.end(), run::is_failure);
  if (all_well && !interrupted_by) return lines;
  if (interrupted_by == SIGPIPE && !failed) return lines;  // `| head` is no accident
  const bool started = std::any_of(outcomes.begin(), outcomes.end(), [](const HostOutcome& outcome) {
    return !std::holds_alternative<run::NotStarted>(outcome) &&
           !std::holds_alternative<run::Unreachable>(outcome);
  });
  lines.push_back("podrun: " + join(describe(run::group_outcomes(outcomes), hosts), separator));
  if (interrupted_by) lines.push_back(fmt::format("podrun: interrupted ({})", signal_name(*interrupted_by)));
  const auto has = [&](auto is) { return std::any_of(outcomes.begin(), outcomes.end(), is); };
  const bool others_stopped =
      has([](const HostOutcome& of) { return std::holds_alternative<run::Stopped>(of); });
  const bool others_waited =
      has([](const HostOutcome& of) { return std::holds_alternative<run::NotStarted>(of); });
  if (culprit && (others_stopped || others_waited)) {
    const std::vector<std::size_t> first = failed_first(outcomes, *culprit);
    const std::string name = first.size() == 1 ? " " + hosts[*culprit].name : "";
    lines.push_back(fmt::format("podrun: {}{} failed first ({}), so the others were {}",
                                output::fold_hosts(hosts, first), name, describe(outcomes[*culprit]),
                                others_stopped ? "stopped" : "not started"));
  }
  if (!started) lines.emplace_back("podrun: nothing was started on any host");
  return lines;
}

}  // namespace podrun::report
