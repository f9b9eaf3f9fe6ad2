// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/summary.hpp"

#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/duration.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/label.hpp"
#include "podrun/remote/protocol.hpp"
#include "podrun/report/failure_words.hpp"
#include "podrun/run/outcome.hpp"

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

struct CountWord {
  std::string_view operator()(const run::NotStarted&) const { return "not started"; }
  std::string_view operator()(const run::Stopped&) const { return "stopped by podrun"; }
  std::string_view operator()(const link::Exited& exited) const {
    return exited.status == 0 ? "ok" : "failed";
  }
  std::string_view operator()(const link::Signaled&) const { return "failed"; }
  std::string_view operator()(const run::TimedOut&) const { return "timed out"; }
  std::string_view operator()(const run::Lost&) const { return "lost"; }
  std::string_view operator()(const run::Unreachable& unreachable) const { return word_for(unreachable); }
};

constexpr std::array<std::string_view, 8> kCountWords = {
    "ok", "failed", "timed out", "lost", "unreachable", "not ready", "stopped by podrun", "not started"};

/// `29 ok · 2 failed · 1 not started`: every host is counted once.
std::string count(const std::vector<HostOutcome>& outcomes, std::string_view separator) {
  std::map<std::string_view, std::size_t> counts;
  for (const HostOutcome& outcome : outcomes) ++counts[std::visit(CountWord{}, outcome)];
  std::vector<std::string> texts;
  for (const std::string_view word : kCountWords) {
    if (counts[word] > 0) texts.push_back(fmt::format("{} {}", counts[word], word));
  }
  return join(texts, separator);
}

/// Hosts that timed out did so with the culprit: it has ended all whose time was not over yet.
std::vector<std::size_t> failed_first(const std::vector<HostOutcome>& outcomes, std::size_t culprit) {
  if (!std::holds_alternative<run::TimedOut>(outcomes[culprit])) return {culprit};
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    if (outcomes[host] == outcomes[culprit]) hosts.push_back(host);
  }
  return hosts;
}

/// `exit 1: [3,17]`, `exit 3: [4] tpu-4`, `unreachable: [41] tpu-41: connection refused`
std::string describe(const OutcomeGroup& of, const std::vector<hosts::Host>& hosts) {
  const link::Failure* failure = run::failure_of(of.outcome);
  const std::string workers = output::name_hosts(hosts, of.hosts);
  if (!failure) return fmt::format("{}: {}", report::describe(of.outcome), workers);
  const auto* unreachable = std::get_if<run::Unreachable>(&of.outcome);
  return fmt::format("{}: {}{} {}{}", unreachable ? word_for(*unreachable) : "lost", workers,
                     of.hosts.size() == 1 ? ":" : "", report::describe(*failure),
                     describe_attempts(of.fewest_attempts, of.most_attempts));
}

template <typename Kind>
std::vector<std::size_t> hosts_with(const std::vector<HostOutcome>& outcomes) {
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    if (std::holds_alternative<Kind>(outcomes[host])) hosts.push_back(host);
  }
  return hosts;
}

bool has_changed_key(const OutcomeGroup& group) {
  const link::Failure* failure = run::failure_of(group.outcome);
  return failure && failure->cause == link::Cause::host_key_changed && failure->jump_hosts.empty();
}

/// One text a fault. Each host has keys of its own, so that every one would be a group: of several, one text
/// tells all.
std::vector<std::string> describe_faults(const std::vector<OutcomeGroup>& groups,
                                         const std::vector<hosts::Host>& hosts) {
  std::vector<std::size_t> changed;
  for (const OutcomeGroup& group : groups) {
    if (has_changed_key(group)) changed.insert(changed.end(), group.hosts.begin(), group.hosts.end());
  }
  std::vector<std::string> texts;
  bool told = false;
  for (const OutcomeGroup& group : groups) {
    if (!run::is_failure(group.outcome)) continue;
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
  for (const std::string& fault : describe_faults(run::group_outcomes(outcomes), hosts))
    lines.push_back("podrun: " + fault);
  return lines;
}

std::vector<std::string> summarize(const std::vector<hosts::Host>& hosts,
                                   const std::vector<HostOutcome>& outcomes,
                                   std::optional<std::size_t> culprit, std::optional<int> interrupted_by,
                                   std::string_view separator, Work work) {
  std::vector<std::string> lines;
  const bool all_well = std::all_of(outcomes.begin(), outcomes.end(), run::has_succeeded);
  const bool failed = std::any_of(outcomes.begin(), outcomes.end(), run::is_failure);
  if (all_well && !interrupted_by) return lines;
  if (interrupted_by == SIGPIPE && !failed) return lines;  // `| head` is no accident
  const bool started = std::any_of(outcomes.begin(), outcomes.end(), run::may_have_run);
  const std::vector<OutcomeGroup> groups = run::group_outcomes(outcomes);
  if (groups.size() > 1 || !failed) lines.push_back("podrun: " + count(outcomes, separator));
  for (const std::string& fault : describe_faults(groups, hosts)) lines.push_back("podrun: " + fault);
  const std::vector<std::size_t> stopped = hosts_with<run::Stopped>(outcomes);
  const bool others_waited = !hosts_with<run::NotStarted>(outcomes).empty();
  if (!stopped.empty() && groups.size() > 1 && !culprit)
    lines.push_back(fmt::format("podrun: stopped by podrun: {}", output::fold_hosts(hosts, stopped)));
  if (interrupted_by) lines.push_back(fmt::format("podrun: interrupted ({})", signal_name(*interrupted_by)));
  if (culprit && (!stopped.empty() || others_waited)) {
    const std::vector<std::size_t> first = failed_first(outcomes, *culprit);
    lines.push_back(fmt::format("podrun: {} failed first ({}), so {}", output::name_hosts(hosts, first),
                                describe(outcomes[*culprit]),
                                stopped.empty() ? "the others were not started"
                                                : "podrun stopped " + output::fold_hosts(hosts, stopped)));
  }
  if (started || work == Work::answers) return lines;
  if (work == Work::files) {
    lines.emplace_back("podrun: nothing was changed on any host");
    return lines;
  }
  const bool can_skip = work == Work::command && others_waited && failed && !interrupted_by;
  lines.push_back(fmt::format("podrun: nothing was started on any host{}",
                              can_skip ? " (--skip-unreachable runs on the others)" : ""));
  return lines;
}

}  // namespace podrun::report
