// SPDX-License-Identifier: Apache-2.0
// A run that shows the output of a job: the preparation of each host is that conversation, in which logs.sh
// sends frames whose positions say where to continue after a lost connection. The command of the run exits as
// the job did.
#include "podrun/jobs/log_follow.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "podrun/hosts/host_name.hpp"
#include "podrun/jobs/job_failures.hpp"
#include "podrun/jobs/job_report.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/log_frames.hpp"
#include "podrun/jobs/scripts.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/session/command_mode.hpp"
#include "podrun/supervisor/program_reader.hpp"

namespace podrun::jobs {
namespace {

using link::Cause;
using link::HostError;

/// The longest pause between two looks of a host for new output, see logs.sh. Equal lines of two hosts may
/// come so far apart.
constexpr std::chrono::milliseconds kLongestPause{800};

/// How long it may take until earlier output has come.
constexpr std::chrono::seconds kOfEarlier{2};

/// More entries than N/times has.
constexpr const char* kAllTimes = "4000";

std::string seconds_since(run::TimePoint time) {
  const auto passed = std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - time);
  return std::to_string(passed.count());
}

constexpr int kUnknownStatus = 255;

int exit_status_of(std::string_view state) {
  Job job;
  read_job_state(job, state);
  return job.state == JobState::ended ? job.status : kUnknownStatus;
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
  followed.exit_status = exit_status_of(*frames.state());
  followed.is_lost = *followed.exit_status == kUnknownStatus && !frames.state()->starts_with("ended");
}

namespace {

/// The command of each host after LogFollow::prepare(): exits with the job's status if the job was followed,
/// else with 0. `hidden`: without a message where that is not known.
enum class Message { shown, hidden };
supervisor::RemoteCommand exit_as_the_job(Message message) {
  const std::string script = "\"$podrun_dir\"/podrun.end";
  return {message == Message::shown ? "set -- /bin/sh " + script
                                    : "set -- /bin/sh -c '. \"$0\" 2>/dev/null' " + script,
          {{"podrun.end", "exit 0\n"}}};
}

class LogMode final : public session::CommandMode,
                      private session::HostPreparation,
                      private session::RunWatch {
 public:
  LogMode(const session::RunSpec& run, const session::Session& session, LogFollow& follow)
      : CommandMode(run, session), follow_(follow) {}

  void begin(output::Output& output) override {
    CommandMode::begin(output);
    output.start();
  }
  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override {
    const auto* const later = std::get_if<run::notice::AttemptLater>(&notice);
    if (later && later->attempt == 2 && follow_.hosts()[later->host].heard_at != run::TimePoint{})
      broken_[later->host] = run::Lost{later->failure};
    const auto* const ended = std::get_if<run::notice::HostEnded>(&notice);
    if (ended && run::failure_of(policy.outcomes()[ended->host]))
      refused_[ended->host] = policy.outcomes()[ended->host];
    CommandMode::notice(output, policy, notice);
  }
  session::HostPreparation* preparation() override { return this; }
  session::RunWatch* watch() override { return follow_.request().follow ? this : nullptr; }
  int status(const run::RunPolicy& policy) const override {
    constexpr int kTimedOut = 124;
    return is_late(policy) ? kTimedOut : CommandMode::status(policy);
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    say_of(output, &FollowedHost::has_gap, "some of the output is no longer there");
    say_of(output, &FollowedHost::is_open,
           "the job has ended, and processes that it left have its output open: not waiting for them");
    if (!run_spec().shown.empty() && follow_.hosts().front().is_lost)
      output.say(fmt::format("podrun: the exit status of {} is not known: podrun, which kept it, was killed",
                             follow_.request().name));
    if (is_late(policy)) {
      output.say(fmt::format("podrun: {} has not ended within {} on {}", follow_.request().name,
                             format_duration(follow_.request().time_limit.value_or(std::chrono::seconds(0))),
                             output::fold_hosts(run_spec().plan.hosts, not_ended())));
      if (json()) json()->end(output, policy, status);
      return;
    }
    if (policy.interrupted_by()) {
      if (json()) json()->end(output, policy, status);
      if (const auto hosts = not_ended(); follow_.request().follow && !hosts.empty())
        output.say(fmt::format("podrun: {0} goes on ({1} logs -f {0} follows it, {1} stop {0} stops it)",
                               follow_.request().name, called()));
      return;
    }
    CommandMode::print_final_report(output, policy, status);
  }

 private:
  void begin_pass(output::Output& output) override { output_ = &output; }
  asio::awaitable<void> look(run::FanOut& fan_out, output::Output& output) override {
    tell_first_failure(output);
    tell_connections(output);
    const std::optional<run::TimePoint>& until = follow_.request().gives_up_at;
    if (until && std::chrono::steady_clock::now() >= *until) fan_out.interrupt(kSignalOfLimit);
    co_return;
  }
  /// Once, after a look's time: where the job has ended everywhere, podrun has seen that by then.
  void tell_first_failure(output::Output& output) {
    if (!failed_first_ || std::exchange(is_failure_told_, true)) return;
    const std::vector<std::size_t> others = not_ended();
    if (others.empty()) return;
    const int status = follow_.hosts()[*failed_first_].exit_status.value_or(0);
    output.say(fmt::format("podrun: [{}] {}; {} still runs on {}",
                           run_spec().plan.hosts[*failed_first_].worker,
                           report::describe(run::HostOutcome(link::Exited{status})), follow_.request().name,
                           output::fold_hosts(run_spec().plan.hosts, others)));
  }
  /// Hosts of one second share a line. Those that will not come back are in the final report, which may be
  /// hours away.
  void tell_connections(output::Output& output) {
    const std::vector<hosts::Host>& hosts = run_spec().plan.hosts;
    for (const std::string& line : report::describe_failures(hosts, std::exchange(broken_, none())))
      output.say(line + "; connecting again");
    std::size_t refused = 0;
    for (const run::HostOutcome& outcome : refused_) refused += run::failure_of(outcome) ? 1 : 0;
    const std::vector<run::HostOutcome> told = std::exchange(refused_, none());
    told_refused_ += refused;
    if (told_refused_ >= not_ended().size()) return;  // the final report comes at once
    for (std::string& line : report::describe_failures(hosts, told)) output.say(std::move(line));
  }
  std::vector<run::HostOutcome> none() const {
    return std::vector<run::HostOutcome>(run_spec().plan.hosts.size());
  }
  static bool is_late(const run::RunPolicy& policy) { return policy.interrupted_by() == kSignalOfLimit; }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) override {
    co_await follow_.prepare(host, supervised, *output_);
    const int status = follow_.hosts()[host].exit_status.value_or(0);
    if (status != 0 && !failed_first_) failed_first_ = host;
    // Where the status of the job is unknown, the command of this run still prints a message as its host's.
    if (status != kUnknownStatus) output_->end(host);
  }
  /// A host is connected and not ready while it is followed: to a reader the job runs there, or has ended.
  void complete(run::Status& status) const override {
    if (!follow_.request().follow) return;
    for (std::size_t host = 0; host < status.hosts.size(); ++host) {
      const FollowedHost& followed = follow_.hosts()[host];
      run::HostStatus& shown = status.hosts[host];
      status.bytes += followed.bytes;
      if (followed.exit_status && shown.state != run::RunPolicy::State::done) {
        shown.state = run::RunPolicy::State::done;
        shown.exit_status = followed.exit_status;
        shown.failed = *followed.exit_status != 0;
      } else if (shown.state == run::RunPolicy::State::connecting && shown.stage == kJobLog) {
        shown.state = run::RunPolicy::State::running;
        if (follow_.request().is_silent)
          shown.since = std::chrono::steady_clock::now();
        else if (followed.heard_at != run::TimePoint{})
          shown.since = followed.heard_at;
      }
    }
  }
  link::Stage stage() const override { return kJobLog; }

  /// The hosts on which the job is not known to have ended.
  std::vector<std::size_t> not_ended() const {
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < follow_.hosts().size(); ++host) {
      if (!follow_.hosts()[host].exit_status) hosts.push_back(host);
    }
    return hosts;
  }
  void say_of(output::Output& output, bool FollowedHost::*is_so, std::string_view what) const {
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < follow_.hosts().size(); ++host) {
      if (follow_.hosts()[host].*is_so) hosts.push_back(host);
    }
    if (!hosts.empty())
      output.say(fmt::format("podrun: {} {}", output::fold_hosts(run_spec().plan.hosts, hosts), what));
  }

  LogFollow& follow_;
  output::Output* output_ = nullptr;
  std::optional<std::size_t> failed_first_ = std::nullopt;
  bool is_failure_told_ = false;
  std::vector<run::HostOutcome> broken_ = none();   ///< connections, since the last look
  std::vector<run::HostOutcome> refused_ = none();  ///< hosts that are given up, since the last look
  std::size_t told_refused_ = 0;
};

}  // namespace

session::RunResult show_log(session::Session& session, session::RunSpec run,
                            const std::vector<std::size_t>& hosts, LogRequest request) {
  run = session::with_hosts(std::move(run), hosts);
  run.plan.limits.timeout.reset();
  run.plan.limits.late_after.reset();  // following a log, hosts are on their way until the job ends
  run.plan.limits.prepares_all_at_once = true;
  run.plan.limits.resumes = true;
  run.reports_first_failures = true;
  if (request.follow) run.view.dedup_limits.window += kLongestPause;
  const std::optional<KeptLog> kept = show_as_kept(session, request, run);
  run.plan.command = exit_as_the_job(kept ? Message::hidden : Message::shown);
  LogFollow follow(std::move(request), run.plan.hosts, kept ? &*kept : nullptr);
  LogMode mode(run, session, follow);
  return session.run(run, mode);
}

}  // namespace podrun::jobs
