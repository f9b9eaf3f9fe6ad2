// SPDX-License-Identifier: Apache-2.0
// The conversation of `podrun logs` with each host: logs.sh sends frames, whose positions say where to go on.
#include "podrun/jobs/log_follow.hpp"

#include <utility>

#include <fmt/format.h>

#include "podrun/hosts/host_list.hpp"
#include "podrun/jobs/job_scripts.hpp"
#include "podrun/remote/program_reader.hpp"

namespace podrun::jobs {
namespace {

using link::Cause;
using link::HostError;
using link::Stage;

}  // namespace

LogFollow::LogFollow(LogRequest request, std::vector<hosts::Host> hosts)
    : request_(std::move(request)), hosts_(std::move(hosts)), followed_(hosts_.size()) {}

asio::awaitable<void> LogFollow::prepare(std::size_t host, remote::Supervised& supervised,
                                         output::Output& output) {
  static const Chunk script{std::string(kLogsScript)};
  FollowedHost& followed = followed_[host];
  const bool is_first = followed.number.empty();
  std::vector<std::string> words = {request_.name,
                                    hosts::host_file_name(hosts_[host]),
                                    supervised.directory(),
                                    request_.follow ? "1" : "",
                                    is_first && request_.tail ? std::to_string(*request_.tail) : "",
                                    followed.number,
                                    std::to_string(followed.out),
                                    std::to_string(followed.err)};
  remote::StartedProgram program = co_await supervised.start_program(script, std::move(words));
  remote::ProgramReader reader(std::move(program));
  LogFrames frames([&](const LogPiece& piece) {
    std::uint64_t& next = piece.stream == StreamId::out ? followed.out : followed.err;
    const bool begins = is_first && piece.bytes.empty();
    if (piece.position > next && !begins) followed.has_gap = true;
    next = piece.position + piece.bytes.size();
    // From here on an attempt would go on: the frame of stderr is the second that says where to begin.
    if (piece.stream == StreamId::err) followed.number = frames.number();
    if (!piece.bytes.empty()) output.write(host, piece.stream, Chunk(std::string(piece.bytes)));
  });
  for (;;) {
    const std::optional<Chunk> bytes = co_await reader.read();
    if (!bytes) break;
    frames.feed(bytes->bytes());
    if (!output.has_room(host)) co_await output.wait_for_room(host);
  }
  if (!frames.state()) {
    const link::Retry retry = reader.was_killed() ? link::Retry::may_help : link::Retry::no;
    throw HostError({Stage::job_log, Cause::ended_early, reader.describe_end(), retry});
  }
  if (frames.number().empty()) {
    throw HostError(
        {Stage::job_log, Cause::file_missing, fmt::format("there is no job {} any more", request_.name)});
  }
  followed.is_open = frames.state()->ends_with(" open");
}

remote::RemoteCommand exit_as_the_job() {
  return {"set -- /bin/sh \"$podrun_dir\"/podrun.end", {{"podrun.end", "exit 0\n"}}};
}

}  // namespace podrun::jobs
