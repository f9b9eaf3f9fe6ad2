// SPDX-License-Identifier: Apache-2.0
// The words and the events between the tries of a command: whom podrun waits for, why it starts again, why it
// does not.
#include "podrun/restarts/restart_report.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::restarts {
namespace {

using Json = nlohmann::ordered_json;
using report::new_event;
using report::to_line;

constexpr std::array<std::string_view, 8> kCauses = {"",        "exit", "signal",   "oom",
                                                     "stalled", "lost", "rebooted", "replaced"};
constexpr std::array<std::string_view, 11> kReasons = {
    "finished",        "interrupted",   "first_try", "crash_loop", "restarts", "final_status",
    "partly_finished", "hosts_missing", "losses",    "prepare",    "timed_out"};

/// `pid 4711 (python3) does not end (uninterruptible) and holds /dev/accel0`
std::string describe(const Obstacle& obstacle) {
  std::string text = fmt::format("pid {} ({})", obstacle.pid, output::escape_controls(obstacle.name));
  if (obstacle.is_left) text += obstacle.state == 'D' ? " does not end (uninterruptible)" : " does not end";
  if (obstacle.device.empty()) return text;
  return text + fmt::format("{} {}", obstacle.is_left ? " and holds" : " holds",
                            output::escape_controls(obstacle.device));
}

std::string why_awaited(const Awaited& awaited, std::string_view called = "podrun") {
  if (awaited.obstacles.empty()) {
    if (report::has_changed_key(awaited.outcome)) return "its host key has changed";
    return run::is_failure(awaited.outcome) ? report::describe(awaited.outcome) : "no whole answer";
  }
  std::string text = describe(awaited.obstacles.front());
  if (awaited.obstacles.size() > 1) text += fmt::format(" and {} more", awaited.obstacles.size() - 1);
  const bool is_foreign = std::none_of(awaited.obstacles.begin(), awaited.obstacles.end(),
                                       [](const Obstacle& obstacle) { return obstacle.is_left; });
  return text + (is_foreign ? fmt::format("; {} kill frees it", called) : "");
}

std::vector<std::size_t> indexes_of(const std::vector<Awaited>& awaited) {
  std::vector<std::size_t> indexes;
  for (const Awaited& each : awaited) indexes.push_back(each.host);
  return indexes;
}

/// `exit 1 [4]`
std::string describe_first(const std::vector<hosts::Host>& hosts, const TryReport& report) {
  if (!report.culprit) return {};
  const std::size_t culprit = *report.culprit;
  return fmt::format("{} [{}]", report::describe(report.outcomes[culprit]), hosts[culprit].worker);
}

std::string_view words(RestartCause cause) {
  switch (cause) {
    case RestartCause::replaced:
      return "replaced by another machine";
    case RestartCause::rebooted:
      return "rebooted";
    case RestartCause::oom:
      return "out of memory";
    case RestartCause::stalled:
      return "stalled";
    default:
      return "out of reach for a time";
  }
}

/// On which the command is done: it is not started there again.
std::vector<std::size_t> hosts_done(const TryReport& report) {
  std::vector<std::size_t> done;
  for (std::size_t host = 0; host < report.outcomes.size(); ++host) {
    if (run::has_succeeded(report.outcomes[host]) && !is_gone(report.hosts[host])) done.push_back(host);
  }
  return done;
}

/// That podrun no longer waits for hosts. Without `awaited` they answer, but nothing can start there.
std::string describe_missing(std::chrono::seconds waited, const std::vector<hosts::Host>& hosts,
                             const std::vector<Awaited>& awaited) {
  const std::string time = format_duration(waited);
  if (awaited.empty())
    return fmt::format("gave up after {} in which it could not start (--wait-hosts)", time);
  return fmt::format("gave up after {} without {} (--wait-hosts)", time,
                     output::fold_hosts(hosts, indexes_of(awaited)));
}

}  // namespace

std::string_view identifier(RestartCause cause) { return kCauses.at(static_cast<std::size_t>(cause)); }
std::string_view identifier(OverReason reason) { return kReasons.at(static_cast<std::size_t>(reason)); }

std::vector<std::size_t> hosts_of(RestartCause cause, const TryReport& report) {
  std::vector<std::size_t> found;
  for (std::size_t host = 0; host < report.outcomes.size(); ++host) {
    const HostAfterTry& after = report.hosts[host];
    const run::HostOutcome& outcome = report.outcomes[host];
    const bool was_missing =
        std::find(report.missing.begin(), report.missing.end(), host) != report.missing.end();
    const bool is_lost =
        std::holds_alternative<run::Lost>(outcome) || std::holds_alternative<run::Unreachable>(outcome);
    if (cause == RestartCause::replaced   ? after.was_replaced
        : cause == RestartCause::rebooted ? after.was_rebooted
        : cause == RestartCause::lost     ? was_missing || is_lost
        : cause == RestartCause::oom      ? is_out_of_memory(outcome, after)
                                          : run::is_failure(outcome))
      found.push_back(host);
  }
  return found;
}

std::vector<std::string> describe_waiting(const std::vector<hosts::Host>& hosts,
                                          const std::vector<Awaited>& awaited, std::string_view called) {
  std::map<std::string, std::vector<std::size_t>> by_reason;
  std::vector<std::size_t> changed;
  for (const Awaited& each : awaited) {
    by_reason[why_awaited(each, called)].push_back(each.host);
    if (report::has_changed_key(each.outcome)) changed.push_back(each.host);
  }
  std::vector<std::string> lines;
  for (const auto& [reason, of] : by_reason)
    lines.push_back(fmt::format("waiting for {}: {}", output::fold_hosts(hosts, of), reason));
  if (!changed.empty()) lines.push_back(report::forget_keys_advice(hosts, changed, called));
  return lines;
}

std::string describe_awaited(const std::vector<hosts::Host>& hosts, const std::vector<Awaited>& awaited) {
  return "waiting for " + output::fold_hosts(hosts, indexes_of(awaited));
}

std::string describe_cause(const std::vector<hosts::Host>& hosts, RestartCause cause,
                           const TryReport& report) {
  if (cause == RestartCause::exit || cause == RestartCause::signal || cause == RestartCause::stalled)
    return {};
  std::string text = fmt::format("{} {}", output::fold_hosts(hosts, hosts_of(cause, report)), words(cause));
  if (!is_loss(cause)) return text;
  text += ": a lost host, not counted";
  const std::string first = describe_first(hosts, report);
  const bool is_its_own =
      report.culprit && std::holds_alternative<run::Lost>(report.outcomes[*report.culprit]);
  return first.empty() || is_its_own ? text : text + fmt::format(" (first seen: {})", first);
}

std::string describe_restart(const RestartPolicy& policy, std::chrono::seconds delay) {
  const std::string when = delay.count() > 0 ? " in " + format_duration(delay) : "";
  const std::string again = fmt::format("starting again{}: try {}", when, policy.restarts() + 1);
  const std::size_t all = policy.limits().restarts;
  if (all == 0) return again;  // it does so after lost hosts only
  return fmt::format("{}, {} of {} restart{} left", again, policy.left(), all, all == 1 ? "" : "s");
}

std::string describe_end(OverReason reason, const RestartPolicy& policy,
                         const std::vector<hosts::Host>& hosts, const TryReport& report,
                         const std::vector<Awaited>& awaited) {
  const RestartLimits& limits = policy.limits();
  if (!limits.allowed) return {};  // nobody has asked for it
  const auto not_again = [](const std::string& why) { return "not started again: " + why; };
  switch (reason) {
    case OverReason::finished:
      return policy.restarts() == 0 ? "" : fmt::format("done with try {}", policy.restarts() + 1);
    case OverReason::interrupted:
      return {};
    case OverReason::first_try:
      if (report.outcomes.empty()) return {};  // nothing has started, as in any run
      return not_again(
          fmt::format("it has never run for {} (--short-try)", format_duration(limits.short_try)));
    case OverReason::crash_loop:
      return not_again(fmt::format("{} tries in a row failed within {}", policy.most_short_tries(),
                                   format_duration(limits.short_try)));
    case OverReason::restarts:
      if (limits.restarts == 0) return not_again("--restarts 0");
      return not_again(fmt::format("it failed again after {} restart{} without a try of {} (--restarts {})",
                                   limits.restarts, limits.restarts == 1 ? "" : "s",
                                   format_duration(limits.reset), limits.restarts));
    case OverReason::final_status:
      return not_again("its exit status is final (--final)");
    case OverReason::partly_finished:
      return not_again(output::fold_hosts(hosts, hosts_done(report)) +
                       " ended with exit 0: the command is done there");
    case OverReason::hosts_missing:
      return describe_missing(limits.wait_hosts.value_or(std::chrono::seconds(0)), hosts, awaited);
    case OverReason::losses:
      return not_again(fmt::format("hosts were lost {} times in an hour", RestartPolicy::kLosses));
    case OverReason::prepare:
      return not_again("--prepare failed");
    case OverReason::timed_out:
      return not_again("--timeout is over");
  }
  return {};
}

std::string restart_event(output::WallTime time, const std::vector<hosts::Host>& hosts,
                          const RestartPolicy& policy, const TryReport& report, std::chrono::seconds delay) {
  Json event = new_event("restart", time);
  event["restart"] = policy.restarts();
  event["cause"] = identifier(policy.cause());
  event["workers"] = Json::array();
  for (const std::size_t host : hosts_of(policy.cause(), report))
    event["workers"].push_back(hosts[host].worker);
  if (report.culprit) {
    event["first"] = {{"worker", hosts[*report.culprit].worker},
                      {"outcome", report::identifier(report.outcomes[*report.culprit])}};
    if (const auto number = run::host_number(report.outcomes[*report.culprit]))
      event["first"]["status"] = *number;
  }
  event["counted"] = !is_loss(policy.cause());
  event["left"] = policy.left();
  event["delay_seconds"] = delay.count();
  return to_line(event);
}

std::string waiting_event(output::WallTime time, const std::vector<hosts::Host>& hosts,
                          const Awaited& awaited, std::optional<std::chrono::seconds> left) {
  Json event = new_event("waiting", time);
  event["worker"] = hosts[awaited.host].worker;
  event["host"] = hosts[awaited.host].name;
  if (awaited.obstacles.empty()) {
    event["for"] = "host";
    if (run::is_failure(awaited.outcome)) {
      report::add_failure(event, awaited.outcome);
    } else {
      event["message"] = why_awaited(awaited);
    }
  } else {
    event["for"] = awaited.obstacles.front().is_left ? "process" : "device";
    event["message"] = why_awaited(awaited);
  }
  if (left) event["left_seconds"] = left->count();
  return to_line(event);
}

std::string stall_event(output::WallTime time, const std::vector<hosts::Host>& hosts,
                        const std::vector<std::size_t>& stalled, std::chrono::seconds silent,
                        const std::string& capture, bool is_over) {
  Json event = new_event("stall", time);
  event["silent_seconds"] = silent.count();
  event["workers"] = Json::array();
  for (const std::size_t host : stalled) event["workers"].push_back(hosts[host].worker);
  event["capture"] = capture;
  event["over"] = is_over;
  return to_line(event);
}

std::string over_event(output::WallTime time, OverReason reason, std::size_t tries, int status) {
  Json event = new_event("over", time);
  event["reason"] = identifier(reason);
  event["tries"] = tries;
  event["status"] = status;
  return to_line(event);
}

}  // namespace podrun::restarts
