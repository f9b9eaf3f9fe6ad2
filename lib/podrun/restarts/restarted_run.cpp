// SPDX-License-Identifier: Apache-2.0
// The loop around the tries of a command: acts as RestartPolicy decides, looks at the hosts between two
// tries, and says what happens.
#include "podrun/restarts/restarted_run.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/restarts/host_survey.hpp"
#include "podrun/restarts/prepare.hpp"
#include "podrun/restarts/restart_report.hpp"
#include "podrun/restarts/try_offsets.hpp"
#include "podrun/session/command_mode.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::restarts {
namespace {

using Clock = std::chrono::steady_clock;
using run::TimePoint;

/// How often the same wait is told again.
constexpr std::chrono::minutes kTellAgain{10};

output::WallTime wall_time() { return std::chrono::system_clock::now(); }

std::chrono::seconds seconds_until(TimePoint then, TimePoint now) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(then - now), std::chrono::seconds(0));
}

/// The text and the time, since it may be read much later: `starting again: try 2 (2026-11-28 04:40:01)`, in
/// the time zone of this machine.
std::string with_time(const std::string& text) {
  return fmt::format("{} ({:%Y-%m-%d %H:%M:%S})", text,
                     fmt::localtime(std::chrono::system_clock::to_time_t(wall_time())));
}

/// `58 min`: a long time needs no seconds.
std::string describe_left(std::chrono::seconds left) {
  constexpr std::chrono::minutes kLong{5};
  return format_duration(left < kLong ? left : std::chrono::ceil<std::chrono::minutes>(left));
}

/// The mode of a try.
class TryMode final : public session::CommandMode {
 public:
  TryMode(const session::RunSpec& run, const session::Session& session, const RestartSpec& spec,
          const std::string& directory)
      : CommandMode(run, session), spec_(spec), is_quiet_(session.spec().verbosity == session::kQuiet) {
    if (!spec.stall.limits.are_set()) return;
    watch_.emplace(spec.stall, run.plan.hosts, directory,
                   [&run](output::Output& output, const StallWatch::Told& told) {
                     if (run.view.json)
                       output.print(stall_event(wall_time(), run.plan.hosts, told.hosts, told.silent,
                                                told.directory, told.is_over));
                   });
  }

  session::RunWatch* watch() override { return watch_ ? &*watch_ : nullptr; }

  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override {
    if (std::holds_alternative<run::notice::Started>(notice) && !started_at_) {
      started_at_ = Clock::now();
      if (watch_) watch_->start(*started_at_);
      const std::size_t restart = run_spec().number->restart;
      if (spec_.on_begin) spec_.on_begin(restart + 1);
      if (restart > 0 && !is_quiet_)
        output.say(
            fmt::format("podrun: try {} runs on {}", restart + 1, count_hosts(policy.outcomes().size())));
    }
    CommandMode::notice(output, policy, notice);
  }
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    culprit_ = policy.culprit();
    CommandMode::print_final_report(output, policy, status);
  }

  std::optional<TimePoint> started_at() const { return started_at_; }
  std::optional<std::size_t> culprit() const { return culprit_; }

 private:
  const RestartSpec& spec_;
  const bool is_quiet_;
  std::optional<StallWatch> watch_;
  std::optional<TimePoint> started_at_;
  std::optional<std::size_t> culprit_;
};

class RestartedRun {
 public:
  RestartedRun(session::Session& session, const RestartSpec& spec)
      : session_(session),
        spec_(spec),
        policy_(spec.limits, Clock::now()),
        job_id_(supervisor::random_id()),
        survey_(session, spec.find_hosts) {}

  RestartResult play() {
    if (spec_.limits.allowed) {
      if (const auto signal = survey_.begin()) return end({OverReason::interrupted, 128 + *signal});
    }
    for (RestartStep step = step::StartTry{};;) {
      if (const auto* over = std::get_if<step::Over>(&step)) return end(*over);
      const RestartEvent event = std::visit([this](const auto& what) { return perform(what); }, step);
      step = policy_.on(event, Clock::now());
      if (std::holds_alternative<event::RestartInterrupted>(event))
        session_.say({"interrupted: not started again"});
      announce(step);
    }
  }

 private:
  const std::vector<hosts::Host>& hosts() const { return session_.spec().hosts; }
  bool is_quiet() const { return session_.spec().verbosity == session::kQuiet; }
  void say(const std::vector<std::string>& notes) {
    if (!is_quiet()) session_.say(notes);
  }
  void print(const std::string& event) {
    if (has_json_) session_.answer(event + '\n');
  }

  RestartEvent perform(const step::StartTry&);
  RestartEvent perform(const step::Survey& survey);
  RestartEvent perform(const step::Prepare& prepare);
  RestartEvent perform(const step::Over&) { return event::Prepared{}; }  // play() ends with it

  std::vector<supervisor::Variable> variables() const;
  session::RunSpec make_try();
  void advise_prepare(const std::vector<run::HostOutcome>& outcomes);
  std::string stall_directory(const session::RunSpec& run) const;
  void tell_waiting();
  void announce(const RestartStep& step);
  std::optional<int> sleep_until(TimePoint until);
  RestartResult end(const step::Over& over);

  session::Session& session_;
  const RestartSpec& spec_;
  RestartPolicy policy_;
  const std::string job_id_;
  bool has_json_ = false;
  std::size_t tries_ = 0;    ///< in which the command has started
  std::string run_id_ = {};  ///< of the last try
  TryReport report_ = {};    ///< of the last try
  HostSurvey survey_;
  std::size_t announced_ = 0;  ///< restarts
  bool is_prepare_advised_ = false;
  std::vector<std::string> told_ = {};
  TimePoint told_at_ = {};
};

std::vector<supervisor::Variable> RestartedRun::variables() const {
  return {{"PODRUN_JOB_ID", job_id_},
          {"PODRUN_RESTART", std::to_string(policy_.restarts())},
          {"PODRUN_RESTART_CAUSE", std::string(identifier(policy_.cause()))}};
}

session::RunSpec RestartedRun::make_try() {
  session::RunSpec run = spec_.make_run(session_.spec(), variables());
  run.plan.limits.on_failure = run::OnFailure::stop_others;
  if (const auto left = policy_.time_left(Clock::now())) run.plan.limits.timeout = left;
  if (!run_id_.empty()) {
    run.view.earlier = output::EarlierOutput::append;
    run.notes.clear();
  }
  run.retry_command = nullptr;
  run.number = report::TryNumber{job_id_, policy_.restarts()};
  has_json_ = run.view.json;
  return run;
}

RestartEvent RestartedRun::perform(const step::StartTry&) {
  session::RunSpec run = make_try();
  TryMode mode(run, session_, spec_, stall_directory(run));
  const auto ended_of = [&](const std::vector<run::HostOutcome>& outcomes, int status,
                            std::optional<int> interrupted_by) {
    event::TryEnded ended{outcomes, status, interrupted_by};
    if (mode.started_at()) ended.ran = Clock::now() - *mode.started_at();
    ended.has_stalled = std::any_of(outcomes.begin(), outcomes.end(), [](const run::HostOutcome& outcome) {
      return std::holds_alternative<run::Stalled>(outcome);
    });
    return ended;
  };
  run.is_last_try = [&](const run::RunPolicy& policy, int status) {
    return policy_.is_certainly_over(ended_of(policy.outcomes(), status, policy.interrupted_by()),
                                     Clock::now());
  };
  run_id_ = run.plan.run_id;
  const std::string offsets = describe_offsets(run.view.outdir, *run.number, run_id_, wall_time());
  const session::RunResult result = session_.run(run, mode);
  append_offsets(run.view.outdir, offsets);
  if (mode.started_at()) {
    ++tries_;
    report_ = {result.outcomes, mode.culprit(), {}, {}};
  }
  report_.hosts.resize(hosts().size());
  if (!mode.started_at() && policy_.restarts() > 0) advise_prepare(result.outcomes);
  return ended_of(result.outcomes, result.status, result.interrupted_by);
}

/// A host that was replaced has none of the user's files. Once.
void RestartedRun::advise_prepare(const std::vector<run::HostOutcome>& outcomes) {
  const bool has_none = std::any_of(outcomes.begin(), outcomes.end(), [](const run::HostOutcome& outcome) {
    const link::Failure* const failure = run::failure_of(outcome);
    return failure && failure->cause == link::Cause::no_such_directory;
  });
  if (!has_none || !spec_.prepare.empty() || std::exchange(is_prepare_advised_, true)) return;
  say(
      {"a new host has none of your files: --prepare 'podrun push SRC DEST' copies them before each "
       "restart"});
}

/// Beside the output, or where podrun keeps what it remembers.
std::string RestartedRun::stall_directory(const session::RunSpec& run) const {
  const std::string name = fmt::format("stall-{}", policy_.restarts() + 1);
  if (!run.view.outdir.empty()) return fmt::format("{}/{}", run.view.outdir, name);
  if (!spec_.directory.empty()) return fmt::format("{}/{}", spec_.directory, name);
  const std::optional<std::string> state = hosts::state_directory(session_.probe());
  return state ? fmt::format("{}/stalls/{}/{}", *state, job_id_, name) : "";
}

RestartEvent RestartedRun::perform(const step::Survey& survey) {
  if (const auto signal = sleep_until(survey.at)) return event::RestartInterrupted{*signal};
  std::vector<std::string> notes;
  const std::optional<int> signal = survey_.make(survey.stops_nothing ? "" : run_id_, notes);
  say(notes);
  if (signal) return event::RestartInterrupted{*signal};
  if (!survey_.awaited().empty()) tell_waiting();
  report_.hosts = survey_.states();
  return event::Surveyed{report_.hosts};
}

void RestartedRun::tell_waiting() {
  const TimePoint now = Clock::now();
  std::vector<std::string> lines = describe_waiting(hosts(), survey_.awaited(), session_.spec().called);
  if (lines == told_ && now - told_at_ < kTellAgain) return;
  const std::optional<TimePoint> until = policy_.waits_until();
  const std::optional<std::chrono::seconds> left =
      until ? std::optional(seconds_until(*until, now)) : std::nullopt;
  if (lines != told_) {
    for (const Awaited& each : survey_.awaited()) print(waiting_event(wall_time(), hosts(), each, left));
  }
  told_ = lines;
  told_at_ = now;
  if (left) lines.front() += fmt::format(", {} left", describe_left(*left));
  say(lines);
}

/// Once for each restart.
void RestartedRun::announce(const RestartStep& step) {
  const auto* prepare = std::get_if<step::Prepare>(&step);
  if (!prepare || policy_.restarts() == announced_) return;
  announced_ = policy_.restarts();
  survey_.remember();
  report_.missing = policy_.missing();
  told_.clear();
  const std::chrono::seconds delay = seconds_until(prepare->at, Clock::now());
  const std::string cause = describe_cause(hosts(), policy_.cause(), report_);
  if (!cause.empty()) say({cause});
  say({with_time(describe_restart(policy_, delay))});
  print(restart_event(wall_time(), hosts(), policy_, report_, delay));
}

RestartEvent RestartedRun::perform(const step::Prepare& prepare) {
  if (const auto signal = sleep_until(prepare.at)) return event::RestartInterrupted{*signal};
  if (spec_.prepare.empty()) return event::Prepared{0};
  std::vector<std::string> environment;
  for (const supervisor::Variable& each : variables()) environment.push_back(each.name + '=' + each.value);
  const PrepareEnd ended = run_here(session_, spec_.prepare, environment);
  if (ended.signal) return event::RestartInterrupted{*ended.signal};
  if (ended.status != 0) say({fmt::format("--prepare: exit {}", ended.status)});
  return event::Prepared{ended.status};
}

std::optional<int> RestartedRun::sleep_until(TimePoint until) {
  return session_.wait_until(until, [this, until](TimePoint now) {
    if (!survey_.awaited().empty()) {
      output::StatusText text{{describe_awaited(hosts(), survey_.awaited())}};
      if (const auto limit = policy_.waits_until())
        text.push_back({describe_left(seconds_until(*limit, now)) + " left"});
      return text;
    }
    return output::StatusText{
        {fmt::format("try {} in {}", policy_.restarts() + 1, format_duration(seconds_until(until, now)))}};
  });
}

RestartResult RestartedRun::end(const step::Over& over) {
  const std::string why = describe_end(over.reason, policy_, hosts(), report_, survey_.awaited());
  if (!why.empty() && (over.status != 0 || !is_quiet())) session_.say({with_time(why)});
  print(over_event(wall_time(), over.reason, tries_, over.status));
  return {over.status, over.reason, tries_, hosts(), report_.outcomes};
}

}  // namespace

supervisor::Command with_variables(supervisor::Command command,
                                   const std::vector<supervisor::Variable>& variables) {
  command.environment.insert(command.environment.begin(), variables.begin(), variables.end());
  return command;
}

session::Ended ended(const RestartResult& result, bool gives_reason) {
  return {.status = result.status,
          .is_interrupted = result.reason == OverReason::interrupted,
          .hosts = result.hosts,
          .outcomes = result.outcomes,
          .reason = gives_reason ? std::string(identifier(result.reason)) : "",
          .tries = result.tries};
}

RestartResult run_with_restarts(session::Session& session, const RestartSpec& spec) {
  return RestartedRun(session, spec).play();
}

}  // namespace podrun::restarts
