// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a host for `podrun ps`, `stop` and `rm`, and writes them as JSON. A host may send
// anything: unknown or broken lines are ignored, and everything has a limit.
#include "podrun/jobs/job_report.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"
#include "podrun/report/json_events.hpp"

namespace podrun::jobs {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::seconds;

/// In JSON, in the order of JobState.
constexpr std::array<std::string_view, 8> kIdentifiers = {"starting",     "running", "ended",   "rebooted",
                                                          "unsupervised", "lost",    "removed", "elsewhere"};

Json json_of(const Job& job) {
  Json json{{"name", job.name}, {"state", kIdentifiers.at(static_cast<std::size_t>(job.state))}};
  if (!job.place.empty()) json["place"] = job.place;
  if (job.state == JobState::removed) return json;
  if (job.state == JobState::elsewhere) json["machine"] = job.machine;
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
constexpr std::size_t kMaxStarts = 1024;  ///< of one job
constexpr std::size_t kMostSeconds = std::size_t{1} << 40U;
constexpr std::size_t kMostStatus = 255;

std::optional<std::chrono::seconds> to_seconds(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number > kMostSeconds) return std::nullopt;
  return std::chrono::seconds(*number);
}

std::set<std::uint64_t> read_numbers(std::string_view rest) {
  std::set<std::uint64_t> numbers;
  while (!rest.empty() && numbers.size() < kMaxStarts) {
    if (const std::optional<std::size_t> number = to_number(take_part(rest, ' '))) numbers.insert(*number);
  }
  return numbers;
}

void read_line(Job& job, std::string_view key, std::string_view rest) {
  if (key == "state") {
    read_job_state(job, rest);
  } else if (key == "place") {
    job.place = rest.substr(0, kMaxText);
  } else if (key == "number") {
    job.number = to_number(rest).value_or(0);
  } else if (key == "kept") {
    job.kept = read_numbers(rest);
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
  } else if (key == "last") {
    job.last_line = rest.substr(0, kMaxText);
  } else if (key == "bytes") {
    job.bytes = to_number(rest).value_or(0);
  } else if (key == "command") {
    job.command = std::string(trim_space(rest.substr(0, kMaxText)));
  }
}

}  // namespace

void read_job_state(Job& job, std::string_view text) {
  const std::string_view word = take_part(text, ' ');
  if (word == "starting") {
    job.state = JobState::starting;
  } else if (word == "running") {
    job.state = JobState::running;
  } else if (word == "removed") {
    job.state = JobState::removed;
  } else if (word == "elsewhere") {
    job.state = JobState::elsewhere;
    job.machine = text.substr(0, kMaxText);
  } else if (word == "ended") {
    const std::optional<std::size_t> status = to_number(take_part(text, ' '));
    if (!status || *status > kMostStatus) return;
    job.state = JobState::ended;
    job.status = static_cast<int>(*status);
  } else if (word == "lost" && !text.empty()) {
    job.state = text == "rebooted" ? JobState::rebooted : JobState::unsupervised;
  }
}

const Job* JobList::shown() const {
  const auto active = std::ranges::find_if(jobs, &Job::is_active);
  if (active != jobs.end()) return &*active;
  return jobs.empty() ? nullptr : &jobs.front();
}

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
