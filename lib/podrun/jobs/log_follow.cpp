// SPDX-License-Identifier: Apache-2.0
// A run that shows the output of a job: the preparation of each host is that conversation, in which logs.sh
// sends frames whose positions say where to continue after a lost connection. The command of the run exits as
// the job did.
#include "podrun/jobs/log_follow.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "podrun/hosts/host_name.hpp"
#include "podrun/jobs/job_failures.hpp"
#include "podrun/jobs/job_report.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/log_frames.hpp"
#include "podrun/jobs/scripts.hpp"
#include "podrun/supervisor/program_reader.hpp"

namespace podrun::jobs {
namespace {

using link::Cause;
using link::HostError;

/// How long it may take until earlier output has come.
constexpr std::chrono::seconds kOfEarlier{2};

/// More entries than N/times has.
constexpr const char* kAllTimes = "4000";

std::string seconds_since(run::TimePoint time) {
  const auto passed = std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - time);
  return std::to_string(passed.count());
}

/// Throws HostError unless the host has said how the job is.
void check_end(const LogFrames& frames, const supervisor::ProgramReader& reader, const std::string& name) {
  if (!frames.state()) {
    const link::Retry retry = reader.was_killed() ? link::Retry::may_help : link::Retry::no;
    throw HostError({kJobLog, Cause::ended_early, reader.describe_end(), retry});
  }
  if (frames.number().empty())
    throw HostError({kJobLog, Cause::file_missing, fmt::format("there is no job {} any more", name)});
}

}  // namespace

LogFollow::LogFollow(LogRequest request, std::vector<hosts::Host> hosts, const KeptLog* kept)
    : request_(std::move(request)), hosts_(std::move(hosts)), followed_(hosts_.size()) {
  if (kept) kept_lines_.emplace(kept->hosts, request_.timestamps);
  constexpr std::uint64_t kBeyondAll = 1'000'000'000'000'000;  // logs.sh sends what follows
  if (!request_.is_silent) return;
  for (FollowedHost& host : followed_) host.out = host.err = kBeyondAll;
}

LogsWords LogFollow::words_for(std::size_t host, const std::string& directory) const {
  const FollowedHost& followed = followed_[host];
  const bool is_first = followed.number.empty();
  const std::string asked_number = request_.number == 0 ? "" : std::to_string(request_.number);
  const auto place = request_.places.find(hosts_[host].worker);
  return {.name = request_.name,
          .place = place == request_.places.end() ? hosts::host_file_name(hosts_[host]) : place->second,
          .directory = directory,
          .follow = request_.follow ? "1" : "",
          .tail = is_first && request_.tail ? std::to_string(*request_.tail) : "",
          .number = is_first ? asked_number : followed.number,
          .out = std::to_string(followed.out),
          .err = std::to_string(followed.err),
          .since = is_first && request_.since ? seconds_since(*request_.since) : "",
          .grep = request_.grep,
          .times = request_.timestamps ? kAllTimes : ""};
}

std::string LogFollow::text_of(const LogPiece& piece, FollowedHost& followed) const {
  if (!request_.timestamps) return std::string(piece.bytes);
  return followed.times.stamp(piece.stream, piece.position, piece.bytes, std::chrono::system_clock::now());
}

asio::awaitable<void> LogFollow::prepare(std::size_t host, supervisor::Supervised& supervised,
                                         output::Output& output) {
  static const Chunk script{std::string(kLogsScript)};
  FollowedHost& followed = followed_[host];
  const bool is_first = followed.number.empty();
  std::vector<std::string> words = words_for(host, supervised.directory()).list();
  supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
  supervisor::ProgramReader reader(std::move(program));
  const run::TimePoint news_from =
      std::chrono::steady_clock::now() + (is_first ? kOfEarlier : std::chrono::seconds(0));
  if (followed.heard_at == run::TimePoint{}) {
    followed.heard_at = std::chrono::steady_clock::now();
    const auto silence = request_.silences.find(hosts_[host].worker);
    if (silence != request_.silences.end()) followed.heard_at -= silence->second;
  }
  LogFrames frames(
      [&](const LogPiece& piece) {
        std::uint64_t& next = piece.stream == StreamId::out ? followed.out : followed.err;
        const bool begins = is_first && piece.next == piece.position;
        if (piece.position > next && !begins) followed.has_gap = true;
        next = piece.next;
        // Only now another attempt would continue here: the frame of stderr is the second that says where to
        // begin.
        if (piece.stream == StreamId::err) followed.number = frames.number();
        if (piece.bytes.empty()) return;
        // In the first seconds earlier output comes; LogRequest::silences says how old it is.
        if (const run::TimePoint now = std::chrono::steady_clock::now(); now >= news_from)
          followed.heard_at = now;
        followed.bytes += piece.bytes.size();
        std::string text = text_of(piece, followed);
        if (kept_lines_) return kept_lines_->pass_on(piece.stream, text, output);
        output.write(host, piece.stream, Chunk(std::move(text)));
      },
      [&](const LogNote& note) { followed.times.add(note, std::chrono::system_clock::now()); });
  for (;;) {
    const std::optional<Chunk> bytes = co_await reader.read();
    if (!bytes) break;
    frames.feed(bytes->bytes());
    if (kept_lines_) co_await kept_lines_->wait_for_room(output);
    if (!output.has_room(host)) co_await output.wait_for_room(host);
  }
  check_end(frames, reader, request_.name);
  if (kept_lines_) kept_lines_->end(output);
  followed.is_open = frames.state()->ends_with(" open");
  if (!request_.follow) co_return;
  Job job;
  read_job_state(job, *frames.state());
  const bool is_known = job.state == JobState::ended;
  followed.exit_status = is_known ? job.status : kUnknownStatus;
  if (!is_known) followed.lost = describe_state(job);
}

}  // namespace podrun::jobs
