// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/summary.hpp"

#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "podrun/base/duration.hpp"
#include "podrun/base/rank_set.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/remote/protocol.hpp"

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

const Failure* failure_of(const HostOutcome& outcome) {
  if (const auto* lost = std::get_if<Lost>(&outcome)) return &lost->failure;
  if (const auto* unreachable = std::get_if<Unreachable>(&outcome)) return &unreachable->failure;
  return nullptr;
}

/// The same to the reader: however often it was tried, and whether it could be tried again.
bool are_alike(const HostOutcome& a, const HostOutcome& b) {
  const Failure* one = failure_of(a);
  const Failure* other = failure_of(b);
  if (!one || !other) return a == b;
  return a.index() == b.index() && one->stage == other->stage && one->what == other->what;
}

struct Group {
  HostOutcome outcome;
  std::vector<std::size_t> hosts;  // indexes
  std::size_t fewest_attempts;
  std::size_t most_attempts;
};

std::vector<Group> group(const std::vector<HostOutcome>& outcomes) {
  std::vector<Group> groups;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    const auto* unreachable = std::get_if<Unreachable>(&outcomes[host]);
    const std::size_t attempts = unreachable ? unreachable->attempts : 1;
    auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& candidate) {
      return are_alike(candidate.outcome, outcomes[host]);
    });
    if (same == groups.end()) same = groups.insert(groups.end(), {outcomes[host], {}, attempts, attempts});
    same->hosts.push_back(host);
    same->fewest_attempts = std::min(same->fewest_attempts, attempts);
    same->most_attempts = std::max(same->most_attempts, attempts);
  }
  // What went well first, then by kind, then by status.
  const auto order = [](const Group& candidate) {
    const auto* exited = std::get_if<Exited>(&candidate.outcome);
    return std::pair(exited ? std::size_t{0} : candidate.outcome.index() + 1, exited ? exited->status : 0);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const Group& a, const Group& b) { return order(a) < order(b); });
  return groups;
}

std::string folded(const std::vector<Host>& hosts, const std::vector<std::size_t>& indexes) {
  std::vector<std::size_t> labels;
  for (const std::size_t index : indexes) labels.push_back(hosts[index].label);
  return fmt::format("[{}]", fold_ranks(std::move(labels)));
}

/// `ok 29`, `exit 1: [3,17]`, `unreachable: [41] tpu-41: connection refused`
std::string describe(const Group& of, const std::vector<Host>& hosts) {
  if (of.outcome == HostOutcome(Exited{0})) return fmt::format("ok {}", of.hosts.size());
  if (std::holds_alternative<NotStarted>(of.outcome)) return fmt::format("not started {}", of.hosts.size());
  const std::string text = podrun::describe(of.outcome);
  const Failure* failure = failure_of(of.outcome);
  const std::string ranks = folded(hosts, of.hosts);
  if (!failure) return fmt::format("{}: {}", text, ranks);
  const std::string name = of.hosts.size() == 1 ? hosts[of.hosts.front()].name + ": " : "";
  return fmt::format("{}: {} {}{}{}", text.substr(0, text.find(':')), ranks, name, podrun::describe(*failure),
                     describe_attempts(of.fewest_attempts, of.most_attempts));
}

}  // namespace

std::string describe(const Failure& failure) {
  const std::string what = escape_controls(failure.what);
  return failure.stage.empty() ? what : fmt::format("{}: {}", failure.stage, what);
}

std::string describe(const HostOutcome& outcome) { return std::visit(Description{}, outcome); }

std::vector<std::string> summarize(const std::vector<Host>& hosts, const std::vector<HostOutcome>& outcomes,
                                   std::optional<std::size_t> culprit, std::optional<int> interrupted_by) {
  std::vector<std::string> lines;
  const bool all_well = std::all_of(outcomes.begin(), outcomes.end(), [](const HostOutcome& outcome) {
    return outcome == HostOutcome(Exited{0});
  });
  const bool failed = std::any_of(outcomes.begin(), outcomes.end(), is_failure);
  if (all_well && !interrupted_by) return lines;
  if (interrupted_by == SIGPIPE && !failed) return lines;  // `| head` is no accident
  std::string line;
  bool started = false;
  for (const Group& each : group(outcomes)) {
    line += (line.empty() ? "" : " · ") + describe(each, hosts);
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
                                folded(hosts, {*culprit}), hosts[*culprit].name,
                                describe(outcomes[*culprit])));
  }
  if (!started) lines.emplace_back("podrun: nothing was started on any host");
  return lines;
}

}  // namespace podrun
