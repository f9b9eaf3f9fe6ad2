// SPDX-License-Identifier: Apache-2.0
// --notify: tells a command of the user's that a run or a job has ended. What hosts say is never a part of
// the command.
#include "podrun/session/notify.hpp"

#include <chrono>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"
#include "podrun/local/spawn.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::session {
namespace {

constexpr std::chrono::seconds kLimit{30};
constexpr std::size_t kMostSummary = 200;  ///< bytes

std::string_view event_of(const Ended& ended) {
  if (ended.is_interrupted) return "stopped";
  if (ended.goes_on) return "running";
  if (ended.status == 0) return "done";
  return ended.reason.empty() ? "failed" : "given_up";
}

/// `exit 1: [3] tpu-3`, without control bytes.
std::string summary_of(const Ended& ended) {
  std::string text = ended.job.empty() ? "" : ended.job + ": ";
  const std::vector<std::string> faults = report::describe_failures(ended.hosts, ended.outcomes);
  if (ended.is_interrupted) {
    text += "interrupted";
  } else if (ended.goes_on) {
    text += "it has not ended, and goes on";
  } else if (ended.status == 0) {
    text += fmt::format("ok on {}", count_hosts(ended.hosts.size()));
  } else if (faults.empty()) {
    text += fmt::format("exit {}", ended.status);
  } else {
    text += faults.front().substr(std::string_view("podrun: ").size());
    if (faults.size() > 1) text += fmt::format(" and {} more", faults.size() - 1);
  }
  if (ended.tries > 1) text += fmt::format(", after {} tries", ended.tries);
  text = output::escape_controls(text);
  if (text.size() > kMostSummary) text.resize(kMostSummary);
  return text;
}

}  // namespace

std::string notification(const Ended& ended, output::WallTime time) {
  nlohmann::ordered_json event = report::new_event(event_of(ended), time);
  if (!ended.job.empty()) event["job"] = ended.job;
  event["status"] = ended.status;
  event["summary"] = summary_of(ended);
  event["hosts"] = ended.hosts.size();
  event["failed"] = nlohmann::ordered_json::array();
  for (std::size_t host = 0; host < ended.outcomes.size(); ++host) {
    if (run::is_failure(ended.outcomes[host])) event["failed"].push_back(ended.hosts[host].worker);
  }
  if (!ended.reason.empty()) event["reason"] = ended.reason;
  if (ended.tries > 0) event["tries"] = ended.tries;
  return report::to_line(event) + '\n';
}

Ended ended(const std::vector<hosts::Host>& hosts, const RunResult& result) {
  return {.status = result.status,
          .is_interrupted = result.interrupted_by.has_value(),
          .hosts = hosts,
          .outcomes = result.outcomes};
}

void notify(const Ended& ended, const std::vector<std::string>& commands,
            const std::function<void(const std::string&)>& say) {
  if (commands.empty()) return;
  const std::string text = notification(ended, std::chrono::system_clock::now());
  std::vector<std::string> variables = {fmt::format("PODRUN_EVENT={}", event_of(ended)),
                                        fmt::format("PODRUN_STATUS={}", ended.status),
                                        "PODRUN_SUMMARY=" + summary_of(ended)};
  if (!ended.job.empty()) variables.push_back("PODRUN_JOB=" + ended.job);  // else that of a job around podrun
  for (const std::string& command : commands) {
    const local::CommandOutput done = local::run_shell_on_text(command, text, variables, kLimit);
    if (done.fate == local::CommandOutput::Fate::timed_out) {
      say(fmt::format("--notify: no end within {}", format_duration(kLimit)));
    } else if (done.status != 0) {
      const std::string how = done.status ? fmt::format("exit {}", *done.status) : "it did not end by itself";
      const std::string_view said = trim_space(last_line(done.error));
      say(fmt::format("--notify: {}{}{}", how, said.empty() ? "" : ": ", said));
    }
  }
}

}  // namespace podrun::session
