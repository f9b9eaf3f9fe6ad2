// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/session/session.hpp"
#include "podrun/supervisor/command.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::jobs {

/// Throws UsageError for a bad name: letters, digits, `_`, `.` and `-` are allowed, 64 at most.
void check_job_name(const std::string& name);

struct JobStart {
  std::string name;
  std::uint64_t log_size = 1'000'000'000;  ///< bytes of each stream's output that are kept on each host
  std::string shown = {};                  ///< in place of the command, where people see it
  /// For Job::is_kept_here: the grace period on its hosts. Nothing is said when it runs.
  std::optional<std::chrono::seconds> grace_if_kept = std::nullopt;
};

/// The command as `podrun ps` shows it.
std::string describe_command(const supervisor::Command& command);

/// Turns the start of `command` (`built` from it) into the start of a job on hosts that reserved its name,
/// see Claims. It ends once the job runs.
supervisor::RemoteCommand start_command(const JobStart& job, const supervisor::Command& command,
                                        supervisor::RemoteCommand built);

/// Reserves the name of a job on every host of a run, until the run ends. The first host is asked before the
/// others, so one of two users who start a job of one name at the same moment gets every host.
class Claims {
 public:
  /// `called`: see session::SessionSpec.
  Claims(std::string name, std::vector<hosts::Host> hosts, std::string run_id, std::string called);

  /// Call this before each pass of the run.
  void begin_pass();
  /// Reserves the name on one host. Throws HostError.
  asio::awaitable<void> reserve(std::size_t host, supervisor::Supervised& supervised);
  /// Whether a host has refused the name, because a job of this name runs or is being started.
  bool is_taken() const { return is_taken_; }

 private:
  asio::awaitable<void> release_others();

  const std::string name_;
  const std::vector<hosts::Host> hosts_;
  const std::string run_id_;
  const std::string called_;
  bool first_has_it_ = false;
  bool is_taken_ = false;
  std::vector<std::shared_ptr<link::Stream>> waiting_ = {};  ///< to hosts whose program waits for a line
  std::vector<std::shared_ptr<link::Stream>> kept_;  ///< to each host: its program ends with the stream
};

/// The exit status where a job of this name runs already.
inline constexpr int kTakenStatus = 1;

/// Says where a job of this name runs: `podrun: train runs already on [0-15] (…)`. The exit status:
/// kTakenStatus, or 128+N if signal N has interrupted the question; none: it runs nowhere.
std::optional<int> say_if_taken(session::Session& session, const session::SessionSpec& spec,
                                const std::string& name);

struct StartedJob {
  int status = 0;         ///< the exit status: that of the command if it has ended within a second
  bool is_there = false;  ///< it was started on all hosts
};

/// Starts the command of this run as a job, on all hosts or on none. `spec`: of the session.
StartedJob start_job(session::Session& session, const session::SessionSpec& spec, session::RunSpec run,
                     const JobStart& job);

}  // namespace podrun::jobs
