// SPDX-License-Identifier: Apache-2.0
#include "conclusion.hpp"

#include <csignal>
#include <optional>
#include <utility>

#include "podrun/run/failure_report.hpp"
#include "podrun/run/hint.hpp"
#include "podrun/run/summary.hpp"

#include "repeat.hpp"

namespace podrun {
namespace {

/// Ended by the signals of an interrupt: no failure that needs a reason.
bool was_interrupted(const HostOutcome& outcome, const RunPolicy& policy) {
  const std::optional<int> number = host_number(outcome);
  return policy.interrupted_by() && number &&
         (*number == 128 + SIGINT || *number == 128 + SIGQUIT || *number == 128 + SIGTERM ||
          *number == 128 + SIGKILL);
}

constexpr std::uint64_t kStillSeen = 16;  ///< lines, on a small terminal

std::vector<std::string> why(const std::vector<Host>& hosts, const RunPolicy& policy, const Options& options,
                             const LastLines& last_lines) {
  if (options.gather) return {};  // all of it was just shown
  const std::uint64_t seen = options.rank0 || options.json ? 0
                             : options.dedup               ? kStillSeen * hosts.size()
                                                           : kStillSeen;
  return report_failures(
      hosts, policy.outcomes(),
      [&](std::size_t host) {
        return was_interrupted(policy.outcomes()[host], policy) ? std::vector<std::string>()
                                                                : last_lines.of(host);
      },
      [&](std::size_t host) { return last_lines.are_among_last(host, seen); });
}

}  // namespace

bool waits_for_answer(const Limits& limits, const RunPolicy& policy) {
  if (limits.questions == Questions::none || policy.interrupted_by()) return false;
  bool waits = false;
  for (const HostOutcome& outcome : policy.outcomes()) {
    const auto* unreachable = std::get_if<Unreachable>(&outcome);
    if (!unreachable && !std::holds_alternative<NotStarted>(outcome)) return false;  // it has run there
    const bool asks = unreachable && unreachable->failure.retry == Retry::after_asking;
    if (unreachable && !asks && limits.on_unreachable == OnUnreachable::stop) return false;
    waits = waits || asks;
  }
  return waits;
}

std::vector<std::string> conclude(const Plan& plan, const RunPolicy& policy, const Options& options,
                                  const LastLines& last_lines, Charset charset) {
  const std::vector<Host>& hosts = plan.run.hosts;
  std::vector<std::string> lines =
      summarize(hosts, policy.outcomes(), policy.culprit(), policy.interrupted_by(), separator(charset));
  if (hosts.size() > 1 && policy.interrupted_by() != SIGPIPE) {
    for (std::string& line : why(hosts, policy, options, last_lines)) lines.push_back(std::move(line));
  }
  const std::string ranks = ranks_to_repeat(hosts, policy.outcomes());
  if (!ranks.empty() && !policy.interrupted_by())
    lines.push_back("podrun: again on just those: " + repeat_command(options, ranks));
  if (const auto* words = std::get_if<Words>(&plan.command.what)) {
    if (auto hint = quoting_hint(words->words, policy.outcomes())) lines.push_back(std::move(*hint));
  }
  const RemoteBy remote = options.via.empty() ? RemoteBy::ssh : RemoteBy::via;
  if (auto hint = start_up_hint(hosts, policy.outcomes(), remote)) lines.push_back(std::move(*hint));
  return lines;
}

}  // namespace podrun
