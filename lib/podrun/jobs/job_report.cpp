// SPDX-License-Identifier: Apache-2.0
// Reads the answer of a host for `podrun ps`, `stop` and `rm`, and writes it as JSON.
#include "podrun/jobs/job_report.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "podrun/base/answer.hpp"
#include "podrun/base/text.hpp"
#include "podrun/jobs/scripts.hpp"
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
  if (job.is_kept_here) json["tries"] = job.tries;
  if (!job.doing.empty()) json["doing"] = job.doing;
  json["command"] = job.command;
  return json;
}

Job to_job(JobsAnswer::Job said) {
  Job job{.name = std::move(said.name),
          .place = std::move(said.place),
          .is_stopped = said.stopped,
          .is_kept_here = said.kept_here.has_value(),
          .grace = said.kept_here.value_or(seconds(0)),
          .tries = said.tries.value_or(0),
          .doing = std::move(said.doing),
          .is_open = said.open,
          .number = said.number.value_or(0),
          .kept = {said.kept.begin(), said.kept.end()},
          .age = said.age,
          .ended = said.ended,
          .output = said.output,
          .bytes = said.bytes.value_or(0),
          .command = std::string(trim_space(said.command)),
          .last_line = std::move(said.last)};
  read_job_state(job, said.state);
  return job;
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
    job.machine = text;
  } else if (word == "ended") {
    const std::optional<std::size_t> status = to_number(take_part(text, ' '));
    constexpr std::size_t kMost = 255;
    if (!status || *status > kMost) return;
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
  auto answer = read_answer<JobsAnswer>(output, nonce);
  JobList list{.is_complete = answer.is_complete};
  for (JobsAnswer::Job& job : answer.jobs) list.jobs.push_back(to_job(std::move(job)));
  return list;
}

std::string jobs_json(output::WallTime time, const std::vector<Job>& kept,
                      const std::vector<hosts::Host>& hosts, const std::vector<run::HostOutcome>& outcomes,
                      const std::vector<ListedJobs>& listed) {
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
  Json of_kept = Json::array();
  for (const Job& job : kept) of_kept.push_back(json_of(job));
  const Json json{{"v", 1},
                  {"event", "jobs"},
                  {"time", output::format_utc(time)},
                  {"kept_here", std::move(of_kept)},
                  {"hosts", std::move(all)}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace podrun::jobs
