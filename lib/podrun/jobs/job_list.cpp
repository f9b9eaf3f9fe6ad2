// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a host. It may send anything: unknown or broken lines are ignored, and everything has a
// limit.
#include "podrun/jobs/job_list.hpp"

#include "podrun/base/text.hpp"

namespace podrun::jobs {
namespace {

constexpr std::size_t kMaxText = 512;  ///< bytes of one value
constexpr std::size_t kMaxJobs = 1024;
constexpr std::size_t kMostSeconds = std::size_t{1} << 40U;
constexpr std::size_t kMostStatus = 255;

std::optional<std::chrono::seconds> to_seconds(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number > kMostSeconds) return std::nullopt;
  return std::chrono::seconds(*number);
}

void take_state(Job& job, std::string_view rest) {
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

void take_line(Job& job, std::string_view key, std::string_view rest) {
  if (key == "state") {
    take_state(job, rest);
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
      take_line(list.jobs.back(), key, rest);
    }
  }
  return list;
}

}  // namespace podrun::jobs
