// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/jobs/kept_log.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/session/session.hpp"

namespace podrun::jobs {

/// Which part of the output of a job is shown, and for how long.
struct LogRequest {
  std::string name;
  std::map<std::size_t, std::string> places =
      {};  ///< by worker number: of hosts that have it by another list
  std::map<std::size_t, std::chrono::seconds> silences = {};  ///< by worker number: since the last output
  std::uint64_t kept_start = 0;  ///< the newest start of a job that this machine keeps; 0: it does not
  std::uint64_t number = 0;      ///< the start of the job; 0: the newest of each host
  bool follow = false;           ///< until the job has ended
  std::optional<std::size_t> tail = std::nullopt;  ///< only this many last lines of each stream
  std::string grep = {};  ///< only lines that match this expression of grep -E; empty: all
  std::optional<std::string> workers =
      std::nullopt;         ///< of a kept job, only the output of these: `--workers`
  bool timestamps = false;  ///< in front of each line; not with `grep`
  std::optional<run::TimePoint> since = std::nullopt;        ///< only output that came later
  bool is_silent = false;                                    ///< nothing of the output: only the end counts
  std::optional<run::TimePoint> gives_up_at = std::nullopt;  ///< with the exit status 124
  std::optional<std::chrono::milliseconds> time_limit = std::nullopt;  ///< from the start to then
};
/// Makes the run of list_run() for the job. Sets LogRequest::places, silences and kept_start, and says which
/// hosts have the job by another list.
JobAnswers find_job(session::Session& session, const session::RunSpec& run, LogRequest& request);

/// For the log of a job that this machine keeps: `run` shows the output of its hosts, and what they do; of
/// the chosen workers, by LogRequest::grep. Null: it is not kept, or its log is shown as it is. Throws
/// UsageError if it has no such workers. The session must outlive the run.
std::optional<KeptLog> show_as_kept(const session::Session& session, LogRequest& request,
                                    session::RunSpec& run);

}  // namespace podrun::jobs
