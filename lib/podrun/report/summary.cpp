// SPDX-License-Identifier: Apache-2.0
// The final report: the number of hosts for each outcome, the faults, and the last lines of failed hosts.
#include "podrun/report/summary.hpp"

#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <csignal>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/outcome_words.hpp"

namespace podrun::report {
namespace {

using run::HostOutcome;
using run::OutcomeGroup;

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

/// ` (3 attempts)`, ` (1 to 3 attempts)`; empty for one or none.
std::string describe_attempts(std::size_t fewest, std::size_t most) {
  if (most <= 1) return "";
  return fewest == most ? fmt::format(" ({} attempts)", most)
                        : fmt::format(" ({} to {} attempts)", fewest, most);
}

std::string describe_exit(int status) {
  // A shell reports a signal like this, and the supervisor is one.
  const bool by_signal = status > 128 && status <= 128 + 64 && ::sigabbrev_np(status - 128);
  return by_signal ? fmt::format("exit {} ({})", status, signal_name(status - 128))
                   : fmt::format("exit {}", status);
}

/// `29 ok · 2 failed · 1 not started`: every host is counted once.
std::string count(const std::vector<HostOutcome>& outcomes, std::string_view separator) {
  std::map<std::string_view, std::size_t> counts;
  for (const HostOutcome& outcome : outcomes) ++counts[words(outcome)];
  std::vector<std::string> texts;
  for (const std::string_view word : outcome_words()) {
    if (counts[word] > 0) texts.push_back(fmt::format("{} {}", counts[word], word));
  }
  return join(texts, separator);
}

/// Hosts that timed out did so with the culprit, which stopped all hosts whose time was not over.
std::vector<std::size_t> failed_first(const std::vector<HostOutcome>& outcomes, std::size_t culprit) {
  const bool is_of_several = std::holds_alternative<run::TimedOut>(outcomes[culprit]) ||
                             std::holds_alternative<run::Stalled>(outcomes[culprit]);
  if (!is_of_several) return {culprit};
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
  return fmt::format("{}: {}{} {}{}", words(of.outcome), workers, of.hosts.size() == 1 ? ":" : "",
                     report::describe(*failure), describe_attempts(of.fewest_attempts, of.most_attempts));
}

template <typename Kind>
std::vector<std::size_t> hosts_with(const std::vector<HostOutcome>& outcomes) {
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    if (std::holds_alternative<Kind>(outcomes[host])) hosts.push_back(host);
  }
  return hosts;
}

/// For hosts that differ in the keys.
constexpr std::string_view kChangedKeys =
    "the host keys have changed (if these hosts were recreated: podrun hosts --forget-keys; -v shows the "
    "keys)";

/// `pid 12 (python3) holds /dev/accel0`, see cleanup.sh: the parts of it.
struct BusyDevice {
  std::string pid;
  std::string name;
  std::string rest;  ///< ` holds …`
};
std::optional<BusyDevice> parse_busy(const HostOutcome& outcome) {
  const link::Failure* failure = run::failure_of(outcome);
  if (!failure || failure->stage != link::Stage::clean_up) return std::nullopt;
  std::string_view text = failure->detail;
  const std::size_t end = text.rfind(") holds ");
  if (take_part(text, ' ') != "pid" || end == std::string::npos) return std::nullopt;
  const std::string_view pid = take_part(text, ' ');
  const std::size_t name = failure->detail.find('(') + 1;
  if (!to_number(pid) || name > end) return std::nullopt;
  return BusyDevice{std::string(pid), failure->detail.substr(name, end - name),
                    failure->detail.substr(end + 1)};
}

/// Hosts whose failures differ only in a pid or a host key share this; empty: nothing to share.
std::string shared_fault(const HostOutcome& outcome) {
  if (has_changed_key(outcome)) return std::string(kChangedKeys);
  const std::optional<BusyDevice> busy = parse_busy(outcome);
  return busy ? busy->name + busy->rest : "";
}

/// `not ready: [0-15] clean-up: python3 (pid 12 on [0]) holds /dev/accel0`
std::string describe_shared(const OutcomeGroup& first, const std::vector<std::size_t>& all,
                            const std::vector<hosts::Host>& hosts) {
  std::string what(kChangedKeys);
  if (const std::optional<BusyDevice> busy = parse_busy(first.outcome)) {
    what = fmt::format("{}: {} (pid {} on {}){}", words(link::Stage::clean_up), busy->name, busy->pid,
                       output::fold_hosts(hosts, {first.hosts.data(), 1}), busy->rest);
  }
  return fmt::format("{}: {} {}", words(first.outcome), output::fold_hosts(hosts, all),
                     output::escape_controls(what));
}

/// One text for each fault.
std::vector<std::string> describe_faults(const std::vector<OutcomeGroup>& groups,
                                         const std::vector<hosts::Host>& hosts) {
  std::map<std::string, std::vector<std::size_t>> shared;
  for (const OutcomeGroup& group : groups) {
    std::vector<std::size_t>& those = shared[shared_fault(group.outcome)];
    those.insert(those.end(), group.hosts.begin(), group.hosts.end());
  }
  std::vector<std::string> texts;
  for (const OutcomeGroup& group : groups) {
    if (!run::is_failure(group.outcome)) continue;
    const std::string fault = shared_fault(group.outcome);
    std::vector<std::size_t>& those = shared[fault];
    if (fault.empty() || those == group.hosts) {
      texts.push_back(describe(group, hosts));
      if (has_changed_key(group.outcome)) texts.push_back(forget_keys_advice(hosts, those));
    } else if (!those.empty()) {
      std::sort(those.begin(), those.end());
      texts.push_back(describe_shared(group, std::exchange(those, {}), hosts));
    }
  }
  return texts;
}

constexpr std::size_t kMaxKinds = 3;

/// Hosts of one outcome with the same last lines.
struct Kind {
  std::vector<std::string> lines;
  std::vector<std::size_t> hosts;
};

/// Drops the lines before the last Python traceback.
std::vector<std::string> from_traceback(std::vector<std::string> lines) {
  const auto is_traceback = [](const std::string& line) {
    return line.starts_with("Traceback (most recent");
  };
  const auto last = std::find_if(lines.rbegin(), lines.rend(), is_traceback);
  if (last != lines.rend()) lines.erase(lines.begin(), last.base() - 1);
  return lines;
}

std::vector<Kind> kinds_of(const std::vector<std::size_t>& hosts,
                           const std::function<std::vector<std::string>(std::size_t)>& last_lines) {
  std::vector<Kind> kinds;
  for (const std::size_t host : hosts) {
    std::vector<std::string> lines = from_traceback(last_lines(host));
    if (lines.empty()) continue;
    auto same =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.lines == lines; });
    if (same == kinds.end()) same = kinds.insert(kinds.end(), {std::move(lines), {}});
    same->hosts.push_back(host);
  }
  return kinds;
}

}  // namespace

bool has_changed_key(const HostOutcome& outcome) {
  const link::Failure* failure = run::failure_of(outcome);
  return failure && failure->cause == link::Cause::host_key_changed && failure->jump_hosts.empty();
}

std::string forget_keys_advice(const std::vector<hosts::Host>& all, const std::vector<std::size_t>& hosts,
                               std::string_view called) {
  const std::string folded = output::fold_hosts(all, hosts);
  const std::string option =
      hosts.size() == all.size() ? "" : fmt::format(" --workers {}", folded.substr(1, folded.size() - 2));
  return fmt::format("if {} {} recreated: {}{} hosts --forget-keys", folded,
                     hosts.size() == 1 ? "was" : "were", called, option);
}

std::string describe(const HostOutcome& outcome) {
  if (const auto* exited = std::get_if<link::Exited>(&outcome); exited && exited->status != 0)
    return describe_exit(exited->status);
  if (const auto* signaled = std::get_if<link::Signaled>(&outcome))
    return "killed by " + signal_name(signaled->signal);
  if (const auto* timed_out = std::get_if<run::TimedOut>(&outcome))
    return fmt::format("{} after {}", words(outcome), format_duration(timed_out->limit));
  if (const auto* stalled = std::get_if<run::Stalled>(&outcome))
    return fmt::format("{}: no output for {}", words(outcome), format_duration(stalled->silent));
  const link::Failure* failure = run::failure_of(outcome);
  if (!failure) return std::string(words(outcome));
  const auto* unreachable = std::get_if<run::Unreachable>(&outcome);
  const std::size_t attempts = unreachable ? unreachable->attempts : 1;
  return fmt::format("{}: {}{}", words(outcome), describe(*failure), describe_attempts(attempts, attempts));
}

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
  if (interrupted_by == SIGPIPE && !failed) return lines;  // as `| head` intends
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

std::vector<std::string> report_failures(
    const std::vector<hosts::Host>& hosts, const std::vector<run::HostOutcome>& outcomes,
    const std::function<std::vector<std::string>(std::size_t host)>& last_lines,
    const std::function<bool(std::size_t host)>& were_just_seen) {
  std::vector<std::string> report;
  for (const run::OutcomeGroup& group : run::group_outcomes(outcomes)) {
    if (!run::is_failure(group.outcome) || !run::may_have_run(group.outcome)) continue;
    std::vector<Kind> kinds = kinds_of(group.hosts, last_lines);
    std::erase_if(kinds, [&](const Kind& kind) { return std::ranges::all_of(kind.hosts, were_just_seen); });
    std::vector<std::size_t> left_out;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (i >= kMaxKinds) {
        left_out.insert(left_out.end(), kinds[i].hosts.begin(), kinds[i].hosts.end());
        continue;
      }
      report.push_back(
          fmt::format("podrun: last lines of {} ({}):", output::fold_hosts(hosts, kinds[i].hosts),
                      report::describe(group.outcome)));
      for (const std::string& line : kinds[i].lines) {
        report.push_back("    " + output::escape_controls(line, output::Tabs::keep));
      }
    }
    if (!left_out.empty())
      report.push_back(
          fmt::format("podrun: and other last lines of {}", output::fold_hosts(hosts, left_out)));
  }
  return report;
}

std::string workers_to_repeat(const std::vector<hosts::Host>& hosts,
                              const std::vector<run::HostOutcome>& outcomes) {
  if (std::none_of(outcomes.begin(), outcomes.end(), run::may_have_run)) return {};
  std::vector<std::size_t> workers;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (!run::has_succeeded(outcomes[host])) workers.push_back(hosts[host].worker);
  }
  return workers.size() == hosts.size() ? "" : fold_workers(std::move(workers));
}

}  // namespace podrun::report
