// SPDX-License-Identifier: Apache-2.0
// Composes what podrun prints at the end of a run: counts, failures with their last lines, the command to run
// again, and hints.
#include "podrun/session/final_report.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/file_system.hpp"
#include "podrun/output/wrap.hpp"
#include "podrun/report/hint.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::session {
namespace {

constexpr std::uint64_t kStillSeen = 16;  ///< lines, on a small terminal
static_assert(kStillSeen > output::LastLines::kLines,
              "the last lines of one host must be able to be among these");

std::vector<std::string> why(const std::vector<hosts::Host>& hosts, const run::RunPolicy& policy,
                             const View& view, const output::LastLines& last_lines) {
  if (view.gather) return {};  // all of it was just shown
  const std::uint64_t seen = view.rank0 || view.json ? 0
                             : view.compares_lines() ? kStillSeen * hosts.size()
                                                     : kStillSeen;
  return report::report_failures(
      hosts, policy.outcomes(),
      [&](std::size_t host) {
        return was_interrupted(policy.outcomes()[host], policy) ? std::vector<std::string>()
                                                                : last_lines.of(host);
      },
      [&](std::size_t host) { return last_lines.are_among_last(host, seen); });
}

/// Whether bytes wait on standard input, which nobody has read: a file at its start, or a pipe.
bool input_waits() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) return false;
  if (S_ISREG(status.st_mode)) return status.st_size > 0 && ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
  pollfd entry{STDIN_FILENO, POLLIN, 0};
  return S_ISFIFO(status.st_mode) && ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

/// Adds hints about likely mistakes in the user's command: quoting, local paths, variables that sudo drops.
void add_command_hints(const RunSpec& run, const run::RunPolicy& policy, std::string_view called,
                       std::vector<std::string>& lines) {
  if (const auto* words = std::get_if<supervisor::Words>(&run.command.what)) {
    if (auto hint = report::quoting_hint(words->words, policy.outcomes())) lines.push_back(std::move(*hint));
  }
  const report::Here here{run.home, is_file};
  if (auto hint = report::local_path_hint(run.command, policy.outcomes(), here))
    lines.push_back(std::move(*hint));
  if (auto hint = report::sudo_variable_hint(run.command)) lines.push_back(std::move(*hint));
  if (auto hint = report::terminal_hint(run.command, run.plan.hosts, policy.outcomes(), called))
    lines.push_back(std::move(*hint));
}

}  // namespace

bool was_interrupted(const run::HostOutcome& outcome, const run::RunPolicy& policy) {
  const std::optional<int> number = run::host_number(outcome);
  return policy.interrupted_by() && number &&
         (*number == 128 + SIGINT || *number == 128 + SIGQUIT || *number == 128 + SIGTERM ||
          *number == 128 + SIGKILL);
}

bool waits_for_answer(const run::Limits& limits, const run::RunPolicy& policy) {
  if (limits.questions == run::Questions::none || policy.interrupted_by()) return false;
  bool waits = false;
  for (const run::HostOutcome& outcome : policy.outcomes()) {
    const auto* unreachable = std::get_if<run::Unreachable>(&outcome);
    if (!unreachable && !std::holds_alternative<run::NotStarted>(outcome)) return false;  // it has run there
    const bool asks = unreachable && unreachable->failure.retry == link::Retry::after_asking;
    if (unreachable && !asks && limits.on_unreachable == run::OnUnreachable::stop) return false;
    waits = waits || asks;
  }
  return waits;
}

std::vector<std::string> final_report(const RunSpec& run, const run::RunPolicy& policy,
                                      const output::LastLines& last_lines, output::Charset charset,
                                      std::string_view called) {
  const std::vector<hosts::Host>& hosts = run.plan.hosts;
  std::vector<std::string> lines =
      report::summarize(hosts, policy.outcomes(), policy.culprit(), policy.interrupted_by(),
                        output::separator(charset), run.work);
  if (hosts.size() > 1 && policy.interrupted_by() != SIGPIPE) {
    for (std::string& line : why(hosts, policy, run.view, last_lines)) lines.push_back(std::move(line));
  }
  const std::string workers = report::workers_to_repeat(hosts, policy.outcomes());
  if (!workers.empty() && !policy.interrupted_by() && run.retry_command)
    lines.push_back(fmt::format("podrun: {}{}", output::kBeforeCommand, run.retry_command(workers)));
  if (run.work == report::Work::command) add_command_hints(run, policy, called, lines);
  if (run.input_unsent && input_waits())
    lines.emplace_back("podrun: standard input was not sent (-I sends it to every host)");
  const bool can_ask = policy.limits().questions == run::Questions::can_be_asked;
  if (auto hint = report::login_hint(policy.outcomes(), can_ask)) lines.push_back(std::move(*hint));
  if (auto hint = report::busy_hint(policy.outcomes(), called)) lines.push_back(std::move(*hint));
  if (auto hint = report::turned_away_hint(policy.outcomes())) lines.push_back(std::move(*hint));
  if (auto hint = report::start_up_hint(hosts, policy.outcomes(), run.remote_by))
    lines.push_back(std::move(*hint));
  return lines;
}

}  // namespace podrun::session
