// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a host for `podrun ps`, `stop` and `rm`, and writes what they show. A host may send
// anything: unknown or broken lines are ignored, and everything has a limit.
#include "podrun/jobs/job_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/line_words.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::jobs {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::seconds;

constexpr std::size_t kCommandCells = 16;  ///< the least room for a command

/// `running`, `exit 137 (SIGKILL)`, `stopped`
std::string describe_state(const Job& job) {
  const auto with_open = [&job](const std::string& text) {
    return job.is_open ? text + ", output open" : text;
  };
  switch (job.state) {
    case JobState::starting:
      return "starting";
    case JobState::running:
      return "running";
    case JobState::ended:
      if (job.is_stopped) return with_open("stopped");
      if (job.status == 0) return with_open("exit 0");
      return with_open(report::describe(run::HostOutcome(link::Exited{job.status})));
    case JobState::rebooted:
      return "lost (rebooted)";
    case JobState::unsupervised:
      return "running without its supervisor";
    case JobState::removed:
      return "removed";
    default:
      return "lost (its supervisor was killed)";
  }
}

/// In JSON, in the order of JobState.
constexpr std::array<std::string_view, 7> kIdentifiers = {"starting",     "running", "ended",  "rebooted",
                                                          "unsupervised", "lost",    "removed"};

/// The range of some times.
struct Times {
  std::optional<seconds> shortest = std::nullopt;
  std::optional<seconds> longest = std::nullopt;

  void add(std::optional<seconds> time) {
    if (!time) return;
    shortest = std::min(shortest.value_or(*time), *time);
    longest = std::max(longest.value_or(*time), *time);
  }
  /// `WORD 12 s to 3 h ago`; empty: there is none.
  std::string describe(std::string_view word) const {
    if (!shortest) return {};
    return fmt::format("{} {} ago", word, report::describe_ages(*shortest, *longest));
  }
};

/// The jobs of one name on all hosts.
struct Named {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> states = {};  ///< words, and the hosts
  std::vector<std::size_t> present = {};  ///< hosts that have it, in order
  std::vector<std::size_t> missing = {};  ///< other hosts that have answered
  Times started = {};
  Times ended = {};
  Times output = {};
  bool is_any_active = false;
  std::string command = {};

  void add(std::size_t host, const Job& job) {
    std::string state = describe_state(job);
    const auto known = std::ranges::find(states, state, &decltype(states)::value_type::first);
    if (known != states.end()) {
      known->second.push_back(host);
    } else {
      states.emplace_back(std::move(state), std::vector{host});
    }
    present.push_back(host);
    is_any_active = is_any_active || job.is_active();
    if (job.is_active()) output.add(job.output);
    started.add(job.age);
    ended.add(job.ended);
    if (command.empty()) command = output::escape_controls(job.command);
  }
};

std::string describe(const std::string& name, const Named& named, const std::vector<hosts::Host>& hosts,
                     std::string_view separator) {
  std::vector<std::string> parts;
  for (const auto& [state, where] : named.states)
    parts.push_back(fmt::format("{} {}", state, output::fold_hosts(hosts, where)));
  if (!named.missing.empty())
    parts.push_back(fmt::format("not there {}", output::fold_hosts(hosts, named.missing)));
  std::vector<std::string> times = {named.started.describe("started")};
  times.push_back(named.is_any_active ? named.output.describe("output") : named.ended.describe("ended"));
  for (std::string& time : times) {
    if (!time.empty()) parts.push_back(std::move(time));
  }
  const std::string line = fmt::format("{}  {}", output::escape_controls(name), join(parts, separator));
  if (named.command.empty()) return line;
  return report::add_command(line + std::string(separator), named.command, kCommandCells);
}

Json json_of(const Job& job) {
  Json json{{"name", job.name}, {"state", kIdentifiers.at(static_cast<std::size_t>(job.state))}};
  if (job.state == JobState::removed) return json;
  if (job.state == JobState::ended) json["exit_status"] = job.status;
  json["stopped"] = job.is_stopped;
  json["output_open"] = job.is_open;
  json["start"] = job.number;
  if (job.age) json["age_seconds"] = job.age->count();
  if (job.ended) json["ended_seconds_ago"] = job.ended->count();
  if (job.output) json["output_seconds_ago"] = job.output->count();
  json["output_bytes"] = job.bytes;
  json["command"] = job.command;
  return json;
}

constexpr std::size_t kMaxText = 512;  ///< bytes of one value
constexpr std::size_t kMaxJobs = 1024;
constexpr std::size_t kMostSeconds = std::size_t{1} << 40U;
constexpr std::size_t kMostStatus = 255;

std::optional<std::chrono::seconds> to_seconds(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number > kMostSeconds) return std::nullopt;
  return std::chrono::seconds(*number);
}

void read_state(Job& job, std::string_view rest) {
  const std::string_view word = take_part(rest, ' ');
  if (word == "starting") {
    job.state = JobState::starting;
  } else if (word == "running") {
    job.state = JobState::running;
  } else if (word == "removed") {
    job.state = JobState::removed;
  } else if (word == "ended") {
    const std::optional<std::size_t> status = to_number(take_part(rest, ' '));
    if (!status || *status > kMostStatus) return;
    job.state = JobState::ended;
    job.status = static_cast<int>(*status);
  } else if (word == "lost" && !rest.empty()) {
    job.state = rest == "rebooted" ? JobState::rebooted : JobState::unsupervised;
  }
}

void read_line(Job& job, std::string_view key, std::string_view rest) {
  if (key == "state") {
    read_state(job, rest);
  } else if (key == "number") {
    job.number = to_number(rest).value_or(0);
  } else if (key == "stopped") {
    job.is_stopped = true;
  } else if (key == "open") {
    job.is_open = true;
  } else if (key == "age") {
    job.age = to_seconds(rest);
  } else if (key == "ended") {
    job.ended = to_seconds(rest);
  } else if (key == "output") {
    job.output = to_seconds(rest);
  } else if (key == "bytes") {
    job.bytes = to_number(rest).value_or(0);
  } else if (key == "command") {
    job.command = std::string(trim_space(rest.substr(0, kMaxText)));
  }
}

}  // namespace

JobList parse_job_list(std::string_view output, std::string_view nonce) {
  JobList list;
  bool begun = false;
  bool is_full = false;
  for (const std::string_view line : split(output, '\n')) {
    std::string_view rest = line;
    const std::string_view key = take_part(rest, ' ');
    if (!begun) {
      begun = key == "podrun-jobs" && rest == nonce;
    } else if (key == "end") {
      list.is_complete = true;
    } else if (key == "job") {
      is_full = list.jobs.size() == kMaxJobs;
      if (!is_full) list.jobs.push_back({.name = std::string(rest.substr(0, kMaxText))});
    } else if (!list.jobs.empty() && !is_full) {
      read_line(list.jobs.back(), key, rest);
    }
  }
  return list;
}

std::vector<std::string> describe_jobs(const std::vector<hosts::Host>& hosts,
                                       const std::vector<ListedJobs>& listed, std::string_view separator) {
  std::map<std::string, Named> jobs;
  for (const ListedJobs& each : listed) {
    for (const Job& job : each.list.jobs) jobs[job.name].add(each.host, job);
  }
  std::vector<std::string> lines;
  for (auto& [name, named] : jobs) {
    for (const ListedJobs& each : listed) {
      if (!std::binary_search(named.present.begin(), named.present.end(), each.host))
        named.missing.push_back(each.host);
    }
    lines.push_back(describe(name, named, hosts, separator));
  }
  return lines;
}

std::string jobs_json(output::WallTime time, const std::vector<hosts::Host>& hosts,
                      const std::vector<run::HostOutcome>& outcomes, const std::vector<ListedJobs>& listed) {
  Json all = Json::array();
  auto next = listed.begin();
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const bool answered = next != listed.end() && next->host == host;
    Json json{{"worker", hosts[host].worker}, {"host", hosts[host].name}, {"answered", answered}};
    if (answered) {
      json["jobs"] = Json::array();
      for (const Job& job : next++->list.jobs) json["jobs"].push_back(json_of(job));
    } else {
      report::add_failure(json, outcomes[host]);
    }
    all.push_back(std::move(json));
  }
  const Json json{{"v", 1}, {"event", "jobs"}, {"time", output::format_utc(time)}, {"hosts", std::move(all)}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace podrun::jobs
