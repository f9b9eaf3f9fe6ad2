// SPDX-License-Identifier: Apache-2.0
// The conversation of a start with each host. claim.sh goes on, and so keeps the name, until its stream is
// closed.
#include "podrun/jobs/claims.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/jobs/job_scripts.hpp"
#include "podrun/remote/program_reader.hpp"

namespace podrun::jobs {
namespace {

using link::Cause;
using link::HostError;
using link::Stage;

constexpr std::size_t kMaxAnswer = 16 * 1024;

/// Says why a host refuses the name.
std::string describe_taken(std::string_view name, std::string_view state) {
  if (state == "starting") return fmt::format("{} is being started by another podrun", name);
  if (state == "logout") {
    return "systemd stops a user's processes at logout there (set KillUserProcesses=no in "
           "/etc/systemd/logind.conf, or start the job with --sudo)";
  }
  return fmt::format("{0} runs already (podrun ps {0} shows where, podrun stop {0} stops it)", name);
}

/// A program, or a file below /proc, without which the host could not keep a job.
link::Failure without(std::string_view missing) {
  if (!missing.starts_with('/')) return {Stage::supervision, Cause::program_missing, std::string(missing)};
  return {Stage::supervision, Cause::no_process_list,
          fmt::format("no {} there (podrun finds a job again by it)", missing)};
}

}  // namespace

Claims::Claims(std::string name, std::vector<hosts::Host> hosts, std::string run_id)
    : name_(std::move(name)), hosts_(std::move(hosts)), run_id_(std::move(run_id)), kept_(hosts_.size()) {}

void Claims::begin_attempt() {
  first_has_it_ = false;
  waiting_.clear();
  for (std::shared_ptr<link::Stream>& stream : kept_) stream.reset();
}

asio::awaitable<void> Claims::take(std::size_t host, remote::Supervised& supervised) {
  static const Chunk script{std::string(kClaimScript)};
  const bool waits = host != 0 && !first_has_it_;
  std::vector<std::string> words = {name_, hosts::host_file_name(hosts_[host]), run_id_,
                                    supervised.directory(), waits ? "wait" : ""};
  remote::StartedProgram program = co_await supervised.start_program(script, std::move(words));
  remote::ProgramReader reader(std::move(program));
  if (waits && first_has_it_) {  // since then
    Chunk line(std::string("\n"));
    co_await reader.stream()->write(std::move(line));
  } else if (waits) {
    waiting_.push_back(reader.stream());
  }
  std::string answer;
  while (answer.find('\n') == answer.npos && answer.size() < kMaxAnswer) {
    const std::optional<Chunk> output = co_await reader.read();
    if (!output) break;
    answer += output->bytes();
  }
  std::string_view rest = answer;
  std::string_view line = take_part(rest, '\n');
  const std::string_view word = take_part(line, ' ');
  if (word == "taken") throw HostError({Stage::job_name, Cause::job_exists, describe_taken(name_, line)});
  if (word == "missing") throw HostError(without(line));
  if (word != "claimed") throw HostError({Stage::job_name, Cause::ended_early, reader.describe_end()});
  kept_[host] = reader.stream();
  if (host == 0) co_await let_others_go_on();
}

asio::awaitable<void> Claims::let_others_go_on() {
  first_has_it_ = true;
  for (const std::shared_ptr<link::Stream>& stream : std::exchange(waiting_, {})) {
    Chunk line(std::string("\n"));
    co_await stream->write(std::move(line));
  }
}

}  // namespace podrun::jobs
