// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/prompt.hpp"

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/base/worker_set.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/failure_words.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::shell {
namespace {

constexpr std::size_t kLongestPart = 26;  ///< columns

/// `[0-7]`, or `64 hosts` where that would be too long.
std::string name_workers(const std::vector<std::size_t>& workers) {
  std::string text = fmt::format("[{}]", fold_workers(workers));
  return text.size() <= kLongestPart ? text : count_hosts(workers.size());
}

/// `[7] exit 1`, or `3 hosts failed`. Hosts that were not reached stand at another place.
std::string name_failures(const LineEnd& before) {
  std::string text;
  std::size_t failed = 0;
  for (const run::OutcomeGroup& group : run::group_outcomes(before.outcomes)) {
    if (!run::is_failure(group.outcome) || std::holds_alternative<run::Unreachable>(group.outcome)) continue;
    failed += group.hosts.size();
    const std::string what = std::holds_alternative<run::Lost>(group.outcome)
                                 ? std::string(report::words(group.outcome))
                                 : report::describe(group.outcome);
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", output::fold_hosts(before.hosts, group.hosts), what);
  }
  return text.size() <= kLongestPart ? text : count_hosts(failed) + " failed";
}

}  // namespace

std::string make_prompt(const std::vector<std::size_t>& workers, const LineEnd& before,
                        const std::vector<std::size_t>& lost, std::string_view separator) {
  std::string text = "podrun " + name_workers(workers);
  const std::string failures = name_failures(before);
  if (!failures.empty()) text.append(separator).append(failures);
  if (!lost.empty()) text.append(separator).append("not connected ").append(name_workers(lost));
  return text + "> ";
}

}  // namespace podrun::shell
