// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/jobs/kept_log.hpp"
#include "podrun/jobs/log_request.hpp"
#include "podrun/jobs/log_times.hpp"
#include "podrun/output/output.hpp"
#include "podrun/supervisor/command.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::jobs {

/// How far the output of the job on one host has been read.
struct FollowedHost {
  std::string number = {};  ///< of the start of the job that is shown; empty: not known yet
  std::uint64_t out = 0;    ///< the next byte of each stream
  std::uint64_t err = 0;
  bool has_gap = false;   ///< output was removed, or found no room on the disk
  std::string lost = {};  ///< it has ended, and its exit status is not known: its state, in words
  bool is_open = false;   ///< the job has ended, but processes that it left have its output open
  std::optional<int> exit_status = std::nullopt;  ///< of the job, once it has ended; 255: it is not known
  run::TimePoint heard_at = {};                   ///< when it last printed, as far as that is known
  LogTimes times = {};                            ///< with timestamps
  std::uint64_t bytes = 0;                        ///< that have come
};

/// Writes what a job has printed, and prints, as the output of its hosts. After a lost connection it
/// continues with the next byte.
class LogFollow {
 public:
  /// `kept`: the log is that of a run on these hosts; null: the job's own.
  LogFollow(LogRequest request, std::vector<hosts::Host> hosts, const KeptLog* kept = nullptr);

  /// Returns when the job has ended there (with `follow`), or all of its output was written. Throws
  /// HostError.
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised, output::Output& output);

  const LogRequest& request() const { return request_; }
  const std::vector<FollowedHost>& hosts() const { return followed_; }

 private:
  LogsWords words_for(std::size_t host, const std::string& directory) const;
  std::string text_of(const LogPiece& piece, FollowedHost& followed) const;

  const LogRequest request_;
  const std::vector<hosts::Host> hosts_;
  std::vector<FollowedHost> followed_;
  std::optional<KeptLines> kept_lines_;
};

}  // namespace podrun::jobs
