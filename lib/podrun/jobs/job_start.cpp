// SPDX-License-Identifier: Apache-2.0
// Starts a job: the hosts reserve its name before they are ready (claim.sh runs, and so keeps the name, until
// its stream is closed), and the command of the run moves files from the run's directory to the job's, starts
// the job and ends. If that fails on a host, a second run takes the job back on the others.
#include "podrun/jobs/job_start.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/jobs/job_commit.hpp"
#include "podrun/jobs/job_failures.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/scripts.hpp"
#include "podrun/output/label.hpp"
#include "podrun/session/command_mode.hpp"
#include "podrun/supervisor/program_reader.hpp"

namespace podrun::jobs {
namespace {

using link::Cause;
using link::HostError;
using link::Stage;

constexpr std::uint64_t kPiece = 64 * 1024 * 1024;  ///< as in job_state.sh
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxAnswer = 16 * 1024;
constexpr std::string_view kEndsAtLogout = "logout";  ///< as claim.sh says it

struct DescribeCommand {
  std::string operator()(const supervisor::Words& words) const { return shell_quote(words.words); }
  std::string operator()(const supervisor::ShellText& shell) const { return shell.text; }
  std::string operator()(const supervisor::Script& script) const {
    return script.arguments.empty() ? script.name : script.name + ' ' + shell_quote(script.arguments);
  }
};

/// Says why a host refuses the name.
std::string describe_taken(std::string_view name, std::string_view state, const std::string& own_place,
                           const std::string& called) {
  constexpr std::string_view kIn = " in ";
  constexpr std::string_view kElsewhere = "elsewhere ";
  std::string_view place;
  if (const std::size_t end = state.find(kIn); end != state.npos) {
    place = state.substr(end + kIn.size());
    state = state.substr(0, end);
  }
  if (state.starts_with(kElsewhere))
    return describe_elsewhere(name, state.substr(kElsewhere.size()), place.empty() ? own_place : place);
  if (!place.empty())
    return fmt::format("{0} runs already {1} ({2} stop {0} stops it)", name, describe_place(place), called);
  if (state == "starting") return fmt::format("{} is being started by another podrun", name);
  if (state == kEndsAtLogout) {
    return "systemd stops a user's processes at logout there (set KillUserProcesses=no in "
           "/etc/systemd/logind.conf, or start the job with --sudo)";
  }
  return fmt::format("{0} runs already ({1} ps {0} shows where, {1} stop {0} stops it)", name, called);
}

/// `missing`: a program, or a file below /proc, that the host needs to keep a job.
link::Failure without(std::string_view missing) {
  if (!missing.starts_with('/')) return {Stage::supervision, Cause::program_missing, std::string(missing)};
  return {Stage::supervision, Cause::no_process_list,
          fmt::format("no {} there (podrun finds a job again by it)", missing)};
}

}  // namespace

void check_job_name(const std::string& name) {
  if (is_job_name(name)) return;
  throw UsageError(
      fmt::format("bad job name \"{}\" (expected letters, digits, _, . and -, {} at most; start with a "
                  "letter, a digit or _)",
                  name, kMaxJobName));
}

std::string describe_command(const supervisor::Command& command) {
  return std::visit(DescribeCommand{}, command.what);
}

supervisor::RemoteCommand start_command(const JobStart& job, const supervisor::Command& command,
                                        supervisor::RemoteCommand built) {
  built.files.push_back({"podrun.start", std::string(kStartScript)});
  std::string copy = "podrun_files=$(cd -P -- \"$podrun_dir\"/job/files && pwd) && cp -p --";
  for (const supervisor::RemoteFile& file : built.files)
    copy += " \"$podrun_dir\"/" + shell_quote_in_line(file.name);
  copy += " \"$podrun_files\" || exit 125; ";
  const std::string words = job.shown.empty() ? describe_command(command) : job.shown;
  const std::string text = words.substr(0, kMaxText);
  const std::uint64_t pieces = std::max<std::uint64_t>(1, job.log_size / kPiece);
  // Others see the arguments of a process, so the words and the values go through variables.
  const std::string again = fmt::format("{}; {}", kDefineNewline, built.text);
  built.text =
      copy +
      fmt::format(
          "export podrun_shown={} podrun_command={}; set -- /bin/sh \"$podrun_files\"/podrun.start {}",
          shell_quote_in_line(text), shell_quote_in_line(again),
          shell_quote(StartWords{.job = job.name,
                                 .limit = std::to_string(pieces),
                                 .kept = job.grace_if_kept ? std::to_string(job.grace_if_kept->count()) : ""}
                          .list()));
  return built;
}

Claims::Claims(std::string name, std::vector<hosts::Host> hosts, std::string run_id, std::string called)
    : name_(std::move(name)),
      hosts_(std::move(hosts)),
      run_id_(std::move(run_id)),
      called_(std::move(called)),
      kept_(hosts_.size()) {}

void Claims::begin_pass() {
  first_has_it_ = false;
  waiting_.clear();
  for (std::shared_ptr<link::Stream>& stream : kept_) stream.reset();
}

asio::awaitable<void> Claims::reserve(std::size_t host, supervisor::Supervised& supervised) {
  expect(host < kept_.size(), "a job's name is reserved on a host of the run");
  static const Chunk script{std::string(kClaimScript)};
  const bool waits = host != 0 && !first_has_it_;
  const std::string place = hosts::host_file_name(hosts_[host]);
  std::vector<std::string> words = ClaimWords{.name = name_,
                                              .place = place,
                                              .run = run_id_,
                                              .directory = supervised.directory(),
                                              .wait = waits ? "wait" : ""}
                                       .list();
  supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
  supervisor::ProgramReader reader(std::move(program));
  if (waits && first_has_it_) {  // while the program was started
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
  is_taken_ = is_taken_ || (word == "taken" && line != kEndsAtLogout);
  if (word == "taken") throw HostError({kJobName, kJobExists, describe_taken(name_, line, place, called_)});
  if (word == "missing") throw HostError(without(line));
  if (word != "claimed") throw HostError({kJobName, Cause::ended_early, reader.describe_end()});
  kept_[host] = reader.stream();
  if (host == 0) co_await release_others();
}

asio::awaitable<void> Claims::release_others() {
  first_has_it_ = true;
  for (const std::shared_ptr<link::Stream>& stream : std::exchange(waiting_, {})) {
    Chunk line(std::string("\n"));
    co_await stream->write(std::move(line));
  }
}

namespace {

/// Time for a host to start the job. Taking it back has the grace period as well.
constexpr std::chrono::seconds kTimeToStart{60};
constexpr int kUncommittedStatus = 255;
constexpr int kOfSignals = 128;

/// The result of the start, as the final report gave it: a later signal does not change it.
struct StartEnd {
  bool runs_everywhere = false;
  bool is_taken = false;
  std::vector<run::HostOutcome> outcomes = {};
};

class StartMode final : public session::CommandMode, private session::HostPreparation {
 public:
  StartMode(const session::RunSpec& run, const session::Session& session, const std::string& name,
            StartEnd& end)
      : CommandMode(run, session),
        claims_(name, run.plan.hosts, run.plan.run_id, session.spec().called),
        end_(end) {}

  session::HostPreparation* preparation() override { return this; }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    end_ = {.runs_everywhere = status == 0, .is_taken = claims_.is_taken(), .outcomes = policy.outcomes()};
    if (!end_.is_taken || json()) CommandMode::print_final_report(output, policy, status);
  }

  int status(const run::RunPolicy& policy) const override {
    return claims_.is_taken() && !policy.interrupted_by() ? kTakenStatus : CommandMode::status(policy);
  }

 private:
  void begin_pass(output::Output& /*output*/) override { claims_.begin_pass(); }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) override {
    return claims_.reserve(host, supervised);
  }
  link::Stage stage() const override { return kJobName; }

  Claims claims_;
  StartEnd& end_;
};

/// Stops and removes what this start has started on those hosts where it may have.
void take_back(session::Session& session, const session::SessionSpec& spec, const session::RunSpec& run,
               const std::string& name, const std::vector<run::HostOutcome>& outcomes) {
  std::vector<std::size_t> started;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    if (run::may_have_run(outcomes[host])) started.push_back(host);
  }
  if (started.empty()) return;
  const std::chrono::seconds grace = spec.limits.grace;
  session::RunSpec back = session::whoever_answers(spec,
                                                   jobs_command({.action = "take-back",
                                                                 .job_names = name,
                                                                 .grace = std::to_string(grace.count()),
                                                                 .run_id = run.plan.run_id}),
                                                   grace + kTimeToStart);
  back.plan.limits.patience = session::kPatience;
  back = session::with_hosts(std::move(back), started);
  const std::vector<hosts::Host>& hosts = back.plan.hosts;
  const session::RunResult taken = session::ask_hosts(session, back).result;
  std::vector<std::size_t> left;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (!run::has_succeeded(taken.outcomes[host])) left.push_back(host);
  }
  if (left.empty()) {
    session.say({fmt::format("{} was not started; what had been started on {} is stopped", name,
                             count_hosts(hosts.size()))});
  } else {
    session.say({fmt::format("{0} may still run on {1} ({2} stop {0} stops it)", name,
                             output::name_hosts(hosts, left), session.spec().called)});
  }
}

}  // namespace

std::optional<int> say_if_taken(session::Session& session, const session::SessionSpec& spec,
                                const std::string& name) {
  const session::RunSpec run = list_run(spec, name);
  const JobAnswers jobs = ask_jobs(session, run);
  if (const auto signal = jobs.answers.result.interrupted_by) return kOfSignals + *signal;
  const std::vector<ListedJobs>& listed = jobs.listed;
  std::vector<std::size_t> where;
  bool is_elsewhere = false;
  for (const ListedJobs& each : listed) {
    const Job* job = each.list.shown();
    if (job == nullptr || !job->is_active()) continue;
    if (job->state == JobState::elsewhere)
      is_elsewhere = true;
    else
      where.push_back(each.host);
  }
  if (where.empty() && !is_elsewhere) return std::nullopt;
  if (!where.empty())
    session.say({fmt::format("{0} runs already on {1} ({2} logs -f {0}; {2} stop {0})", name,
                             output::fold_hosts(run.plan.hosts, where), spec.called)});
  session.say(describe_strays(name, run.plan.hosts, listed));
  return kTakenStatus;
}

StartedJob start_job(session::Session& session, const session::SessionSpec& spec, session::RunSpec run,
                     const JobStart& job) {
  run.plan.command = start_command(job, run.command, std::move(run.plan.command));
  run.work = report::Work::job;
  run.name_of_job = job.name;
  run.retry_command = nullptr;
  run::Limits& limits = run.plan.limits;
  limits.on_failure = run::OnFailure::stop_others;
  limits.prepares_all_at_once = true;
  limits.timeout = kTimeToStart;
  StartEnd end;
  StartMode mode(run, session, job.name, end);
  int status = session.run(run, mode).status;
  if (end.runs_everywhere) {
    const Committed committed = commit_job(session, spec, run, job);
    if (committed.is_everywhere) return {committed.status, true};
    status = committed.status;
  } else if (end.is_taken && !run.view.json && say_if_taken(session, spec, job.name)) {
    return {status};
  }
  take_back(session, spec, run, job.name, end.outcomes);
  return {status == 0 ? kUncommittedStatus : status};
}

}  // namespace podrun::jobs
