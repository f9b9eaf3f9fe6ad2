// SPDX-License-Identifier: Apache-2.0
// The last lines of each kind of failure, for the final report.
#include "podrun/report/failure_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/worker_set.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {
namespace {

constexpr std::size_t kMaxKinds = 3;

/// Hosts of one outcome with the same last lines.
struct Kind {
  std::vector<std::string> lines;
  std::vector<std::size_t> hosts;
};

/// Python's, where one is among them: what comes before it is no reason.
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
