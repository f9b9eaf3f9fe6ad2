// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Failures as values: decisions are made by stage and cause. report/outcome_words.cpp has the words of those
// that all runs share; a feature has the words of its own in its folder.
namespace podrun::link {

/// Whether connecting once more may help: at once, or when the user has answered a question (a new host key,
/// a passphrase).
enum class Retry { no, may_help, after_asking };

enum class CommonStage {
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
  ready,
  running,
  ending,
  standard_input,
};
inline constexpr std::size_t kStages = static_cast<std::size_t>(CommonStage::standard_input) + 1;

enum class CommonCause {
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
  file_missing,  ///< the host does not have what was asked for
  not_ended,     ///< `after` the time that the host was given
  // of this machine
  local_limit,
  not_startable,
  configuration,
  cancelled,
  let_go,
  abandoned,
};
inline constexpr std::size_t kCauses = static_cast<std::size_t>(CommonCause::abandoned) + 1;

/// A stage of one feature: its work on a host before the host is ready.
struct StageWords {
  std::string_view identifier;  ///< in `--json`
  std::string_view words;
  std::string_view doing = {};  ///< on the status line; empty: not shown there
  bool is_answer = true;        ///< its failures are answers of the host, which another attempt gets again
};

/// A cause of one feature.
struct CauseWords {
  std::string_view identifier;           ///< in `--json`
  std::string_view words;                ///< without a detail
  std::string_view with_detail = "{1}";  ///< for fmt: argument 0 the words, 1 the detail
};

/// One of the common values, or a feature's own, which must be a constant.
template <typename Common, typename Words>
class Extensible {
 public:
  constexpr explicit Extensible(Common common) : common_(common) {}
  constexpr explicit Extensible(const Words& own) : own_(&own) {}

  /// Null: it is common().
  constexpr const Words* own() const { return own_; }
  constexpr Common common() const { return common_; }

  /// By identifier: a constant of a header may have several addresses in a program of several libraries.
  friend constexpr bool operator==(const Extensible& a, const Extensible& b) {
    if (!a.own_ || !b.own_) return a.own_ == b.own_ && a.common_ == b.common_;
    return a.own_ == b.own_ || a.own_->identifier == b.own_->identifier;
  }

 private:
  Common common_ = {};
  const Words* own_ = nullptr;
};

/// How far a host has come.
class Stage : public Extensible<CommonStage, StageWords> {
 public:
  using enum CommonStage;
  constexpr Stage(CommonStage common) : Extensible(common) {}  // NOLINT(google-explicit-constructor)
  constexpr Stage(const StageWords& own) : Extensible(own) {}  // NOLINT(google-explicit-constructor)
  Stage(const StageWords&& own) = delete;                      // its words would be gone
  friend constexpr bool operator==(const Stage&, const Stage&) = default;
};

/// The reason of a failure.
class Cause : public Extensible<CommonCause, CauseWords> {
 public:
  using enum CommonCause;
  constexpr Cause(CommonCause common) : Extensible(common) {}  // NOLINT(google-explicit-constructor)
  constexpr Cause(const CauseWords& own) : Extensible(own) {}  // NOLINT(google-explicit-constructor)
  Cause(const CauseWords&& own) = delete;                      // its words would be gone
  friend constexpr bool operator==(const Cause&, const Cause&) = default;
};

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
