// SPDX-License-Identifier: Apache-2.0
// Tables of outcomes, stages and causes: all words for the end of a host, for people and for programs.
#include "podrun/report/outcome_words.hpp"

#include <array>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/supervisor/protocol.hpp"

namespace podrun::report {
namespace {

using link::Cause;
using link::Stage;

struct StageRow {
  link::CommonStage stage;
  link::StageWords words;
};

struct CauseRow {
  link::CommonCause cause;
  link::CauseWords words;
};

constexpr std::array<StageRow, link::kStages> kStageRows = {{
    {Stage::none, {"", ""}},
    {Stage::name_lookup, {"name_lookup", "name look-up"}},
    {Stage::connecting, {"connecting", "connecting"}},
    {Stage::forwarding, {"forwarding", "connecting from"}},
    {Stage::proxy_command, {"proxy_command", "ProxyCommand"}},
    {Stage::starting_program, {"starting_program", "starting"}},
    {Stage::ssh_banner, {"ssh_banner", "SSH banner"}},
    {Stage::key_exchange, {"key_exchange", "key exchange"}},
    {Stage::host_key, {"host_key", "host key"}},
    {Stage::login, {"login", "login"}},
    {Stage::opening_channel, {"opening_channel", "opening a channel"}},
    {Stage::running_shell, {"running_shell", "running a command"}},
    {Stage::connection, {"connection", "connection"}},
    {Stage::starting_shell, {"starting_shell", "starting /bin/sh"}},
    {Stage::hello, {"hello", "hello"}},
    {Stage::working_directory, {"working_directory", "working directory"}},
    {Stage::run_directory, {"run_directory", "run directory"}},
    {Stage::clean_up, {"clean_up", "clean-up"}},
    {Stage::supervision, {"supervision", "supervision"}},
    {Stage::sending_file, {"sending_file", "sending"}},
    {Stage::ready, {"ready", "ready"}},
    {Stage::running, {"running", "running"}},
    {Stage::ending, {"ending", "stopping"}},
    {Stage::standard_input, {"standard_input", "standard input"}},
}};

constexpr std::array<CauseRow, link::kCauses> kCauseRows = {{
    {Cause::other, {"other", "failed"}},
    {Cause::name_not_found, {"name_not_found", "name not known"}},
    {Cause::name_service_failed, {"name_service_failed", "no answer of the name service"}},
    {Cause::no_usable_address, {"no_usable_address", "there is no address to connect to"}},
    {Cause::refused, {"refused", "connection refused"}},
    {Cause::reset, {"reset", "connection reset"}},
    {Cause::timed_out, {"timed_out", "timed out", "{} ({})"}},
    {Cause::unreachable, {"unreachable", "no route to host"}},
    {Cause::closed, {"closed", "closed by the server", "{}: {}"}},
    {Cause::not_forwarded, {"not_forwarded", "it could not connect"}},
    {Cause::forwarding_refused,
     {"forwarding_refused", "refused", "{}: {} (AllowTcpForwarding or PermitOpen of its sshd_config?)"}},
    {Cause::transport_ended, {"transport_ended", "its command ended"}},
    {Cause::not_ssh, {"not_ssh", "the server does not speak SSH", "{} ({})"}},
    {Cause::protocol_error, {"protocol_error", "the server does not follow the protocol"}},
    {Cause::flood, {"flood", "the output does not stop though podrun takes none"}},
    {Cause::request_refused, {"request_refused", "refused by the server", "{}: {}"}},
    {Cause::too_many_channels,
     {"too_many_channels", "refused by the server (MaxSessions of its sshd_config?)"}},
    {Cause::no_answer, {"no_answer", "no answer", "{} ({})"}},
    {Cause::host_key_unknown, {"host_key_unknown", "the host key is not known", "{}: {}"}},
    {Cause::host_key_changed, {"host_key_changed", "the host key has changed", "{}: {}"}},
    {Cause::host_key_revoked, {"host_key_revoked", "the host key is revoked"}},
    {Cause::host_key_too_short, {"host_key_too_short", "the host key is too short"}},
    {Cause::permission_denied, {"permission_denied", "permission denied", "{} {}"}},
    {Cause::passphrase_needed, {"passphrase_needed", "the key needs its passphrase"}},
    {Cause::ended_early, {"ended_early", "podrun's script ended before the start"}},
    {Cause::no_exit_status, {"no_exit_status", "the connection ended without an exit status"}},
    {Cause::second_exit_status,
     {"second_exit_status", "its output has a second exit status (one is forged)"}},
    {Cause::unexpected_answer, {"unexpected_answer", "unexpected answer", "{} \"{}\""}},
    {Cause::no_such_directory, {"no_such_directory", "no such directory", "{} \"{}\""}},
    {Cause::directory_not_entered, {"directory_not_entered", "cannot enter", "{} \"{}\""}},
    {Cause::no_run_directory,
     {"no_run_directory", "cannot make one", "{} in \"{}\", in /dev/shm or in the home directory"}},
    {Cause::no_process_list,
     {"no_process_list",
      "no /proc there, and the process group belongs to another process: nothing could be stopped"}},
    {Cause::program_missing,
     {"program_missing", "no program that podrun needs", "no \"{1}\" in $PATH there (podrun needs it)"}},
    {Cause::clean_up_failed, {"clean_up_failed", "processes remain"}},
    {Cause::file_not_stored, {"file_not_stored", "the file was not stored"}},
    {Cause::file_missing, {"file_missing", "no such file or directory there"}},
    {Cause::not_ended, {"not_ended", "did not stop", "{} ({})"}},
    {Cause::local_limit, {"local_limit", "a limit of this machine"}},
    {Cause::not_startable, {"not_startable", "cannot be started"}},
    {Cause::configuration, {"configuration", "bad configuration"}},
    {Cause::cancelled, {"cancelled", "cancelled", "{} ({})"}},
    {Cause::let_go, {"let_go", "let go", "{} ({})"}},
    {Cause::abandoned, {"abandoned", "abandoned", "{} ({})"}},
}};

struct OutcomeRow {
  std::string_view identifier;
  std::string_view words;
};

/// In the order of run::HostOutcome.
constexpr std::array<OutcomeRow, std::variant_size_v<run::HostOutcome>> kOutcomeRows = {{
    {"not_started", "not started"},
    {"exited", "failed"},
    {"signaled", "failed"},
    {"timed_out", "timed out"},
    {"stalled", "stalled"},
    {"lost", "lost"},
    {"unreachable", "unreachable"},
    {"stopped", "stopped by podrun"},
}};

constexpr std::string_view kOk = "ok";
constexpr std::string_view kNotReady = "not ready";

/// Words of kOutcomeRows, and kOk and kNotReady.
constexpr std::array kOutcomeWords = {kOk,
                                      kOutcomeRows[1].words,
                                      kOutcomeRows[3].words,
                                      kOutcomeRows[4].words,
                                      kOutcomeRows[5].words,
                                      kOutcomeRows[6].words,
                                      kNotReady,
                                      kOutcomeRows[7].words,
                                      kOutcomeRows[0].words};

template <typename Rows, typename Key>
constexpr bool is_in_order(const Rows& rows, Key key) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].*key) != i) return false;
  }
  return true;
}
static_assert(is_in_order(kStageRows, &StageRow::stage));
static_assert(is_in_order(kCauseRows, &CauseRow::cause));

const link::StageWords& words_of(Stage stage) {
  return stage.own() ? *stage.own() : kStageRows.at(static_cast<std::size_t>(stage.common())).words;
}
const link::CauseWords& words_of(Cause cause) {
  return cause.own() ? *cause.own() : kCauseRows.at(static_cast<std::size_t>(cause.common())).words;
}

std::string words_with_time(const link::Failure& failure) {
  if (!failure.after) return std::string(words(failure.cause));
  const std::string time = format_duration(*failure.after);
  if (failure.cause == Cause::no_answer) return fmt::format("no answer for {}", time);
  if (failure.cause == Cause::not_ended) return fmt::format("did not stop within {}", time);
  return fmt::format("{} after {}", words(failure.cause), time);
}

/// `jump host gate: login`, `connecting from jump host gate`
std::string describe_stage(const link::Failure& failure) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!part.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", part);
  };
  const bool from_last = failure.stage == Stage::forwarding && !failure.jump_hosts.empty();
  for (std::size_t i = 0; i < failure.jump_hosts.size(); ++i) {
    const bool is_last = i + 1 == failure.jump_hosts.size();
    add(fmt::format("{}jump host {}", from_last && is_last ? "connecting from " : "", failure.jump_hosts[i]));
  }
  if (!from_last) add(words(failure.stage));
  return text;
}

/// For a file the detail continues the stage: `sending train.sh: …`.
std::string describe_all(const link::Failure& failure) {
  const std::string stage = describe_stage(failure);
  if (stage.empty()) return reason(failure);
  return fmt::format("{}{}{}", stage, failure.stage == Stage::sending_file ? " " : ": ", reason(failure));
}

}  // namespace

std::string_view identifier(Stage stage) { return words_of(stage).identifier; }
std::string_view identifier(Cause cause) { return words_of(cause).identifier; }
std::string_view words(Stage stage) { return words_of(stage).words; }
std::string_view words(Cause cause) { return words_of(cause).words; }

std::string_view identifier(const run::HostOutcome& outcome) {
  return kOutcomeRows.at(outcome.index()).identifier;
}

std::vector<std::string_view> outcome_identifiers() {
  std::vector<std::string_view> identifiers;
  for (const OutcomeRow& outcome : kOutcomeRows) identifiers.push_back(outcome.identifier);
  return identifiers;
}

std::string_view words(const run::HostOutcome& outcome) {
  if (run::has_succeeded(outcome)) return kOk;
  const auto* unreachable = std::get_if<run::Unreachable>(&outcome);
  if (unreachable && supervisor::is_refusal(unreachable->failure)) return kNotReady;
  return kOutcomeRows.at(outcome.index()).words;
}

std::span<const std::string_view> outcome_words() { return kOutcomeWords; }

std::string reason(const link::Failure& failure) {
  std::string text = words_with_time(failure);
  if (!failure.detail.empty())
    text = fmt::format(fmt::runtime(words_of(failure.cause).with_detail), text, failure.detail);
  for (const link::Failure& other : failure.elsewhere)
    text += "; on another connection: " + describe_all(other);
  return text;
}

std::string describe(const link::Failure& failure) { return output::escape_controls(describe_all(failure)); }

}  // namespace podrun::report
