// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/jobs/log_frames.hpp"
#include "podrun/output/output.hpp"
#include "podrun/remote/command.hpp"
#include "podrun/remote/supervised.hpp"

namespace podrun::jobs {

struct LogRequest {
  std::string name;
  bool follow = false;                             ///< until the job has ended
  std::optional<std::size_t> tail = std::nullopt;  ///< only so many last lines of each stream
};

/// How far the output of the job on one host has been read.
struct FollowedHost {
  std::string number = {};  ///< which start of the job is shown; empty: not known yet
  std::uint64_t out = 0;    ///< the next byte of each stream
  std::uint64_t err = 0;
  bool has_gap = false;  ///< output was removed, or found no room on the disk
  bool is_open = false;  ///< the job has ended, and processes that it left have its output open
};

/// Writes what a job has printed, and prints, as the output of its hosts. After a lost connection it goes on
/// with the next byte.
class LogFollow {
 public:
  LogFollow(LogRequest request, std::vector<hosts::Host> hosts);

  /// Until the job has ended there (with `follow`), or all of it was written. Throws HostError.
  asio::awaitable<void> prepare(std::size_t host, remote::Supervised& supervised, output::Output& output);

  const std::vector<FollowedHost>& hosts() const { return followed_; }

 private:
  const LogRequest request_;
  const std::vector<hosts::Host> hosts_;
  std::vector<FollowedHost> followed_;
};

/// The command of each host after that: exits with the job's status if the job was followed, else with 0.
remote::RemoteCommand exit_as_the_job();

}  // namespace podrun::jobs
