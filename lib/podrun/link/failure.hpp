// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Failures as values: decisions are made by stage and cause. report/failure_words.cpp has the words and the
// identifiers of `--json` for each of both.
namespace podrun::link {

/// Whether connecting once more may help: at once, or when the user has answered a question (a new host key,
/// a passphrase).
enum class Retry { no, may_help, after_asking };

/// How far a host has come.
enum class Stage {
  none,  ///< it is not said, or there is none any more
  name_lookup,
  connecting,
  forwarding,  ///< connecting from a jump host
  proxy_command,
  starting_program,  ///< on this machine: the shell, a command of --via, a proxy command
  ssh_banner,
  key_exchange,
  host_key,
  login,
  opening_channel,
  running_shell,  ///< the request to run it, over SSH
  connection,     ///< the one that is logged in
  starting_shell,
  hello,  ///< the first words of the supervisor
  working_directory,
  run_directory,
  clean_up,
  supervision,
  sending_file,
  copying,   ///< files, before the start
  job_name,  ///< reserving it, before the start
  job_log,   ///< reading what a job prints
  sampling,  ///< reading its figures (podrun top)
  ready,
  running,
  ending,
  standard_input,
};
inline constexpr std::size_t kStages = static_cast<std::size_t>(Stage::standard_input) + 1;

/// The reason of a failure.
enum class Cause {
  other,
  // of the network
  name_not_found,
  name_service_failed,
  no_usable_address,
  refused,
  reset,
  timed_out,    ///< `after` a limit of ours, else one of TCP's
  unreachable,  ///< also addresses of one host that failed in different ways
  closed,       ///< by the server
  not_forwarded,
  forwarding_refused,
  transport_ended,
  // of the SSH server
  not_ssh,
  protocol_error,
  flood,
  request_refused,
  too_many_channels,
  no_answer,
  host_key_unknown,
  host_key_changed,
  host_key_revoked,
  host_key_too_short,
  permission_denied,
  passphrase_needed,
  // of the host
  ended_early,
  no_exit_status,
  second_exit_status,  ///< in the output, so that one is forged
  unexpected_answer,
  no_such_directory,
  directory_not_entered,
  no_run_directory,
  no_process_list,
  program_missing,
  clean_up_failed,
  file_not_stored,
  not_comparable,  ///< with the other hosts
  files_differ,    ///< what arrived is not what was sent
  file_missing,    ///< the host does not have what was asked for
  too_large,       ///< more than a limit, or than there is room for
  not_copied,      ///< a part of the files
  deletes_all,     ///< nothing of what the host has would stay
  job_exists,      ///< one of this name runs, or is being started
  not_ended,       ///< `after` the time that the host was given
  // of this machine
  local_limit,
  local_file_failed,
  not_startable,
  configuration,
  cancelled,
  let_go,
  abandoned,
};
inline constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::abandoned) + 1;

/// Why a host could not be used or was lost: the stage it had reached and what happened there.
struct Failure {
  Stage stage = Stage::none;
  Cause cause = Cause::other;
  std::string detail = {};  ///< for people: what the cause does not say
  Retry retry = Retry::no;
  std::optional<std::chrono::seconds> after = std::nullopt;
  /// Names: the failure is of the last one's own connection, over which the others were to be reached.
  std::vector<std::string> jump_hosts = {};
  std::vector<Failure> elsewhere = {};  ///< failures of the other connections that were tried

  friend bool operator==(const Failure&, const Failure&) = default;
};

/// The same failure, told of another stage.
inline Failure at_stage(Failure failure, Stage stage) {
  failure.stage = stage;
  failure.jump_hosts.clear();
  return failure;
}

/// A Failure on its way up; caught once per host, in the fan-out.
class HostError : public std::runtime_error {
 public:
  explicit HostError(Failure failure) : std::runtime_error(failure.detail), failure_(std::move(failure)) {}
  const Failure& failure() const { return failure_; }

 private:
  Failure failure_;
};

}  // namespace podrun::link
