// SPDX-License-Identifier: Apache-2.0
// The coroutines of one host. Each step that the run waits for is an event for the policy, which decides the
// next one, so nothing here looks at other hosts.
#include "podrun/run/host_run.hpp"

#include <string.h>  // sigabbrev_np

#include <chrono>
#include <utility>
#include <variant>

#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace podrun::run {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

HostRun::~HostRun() = default;

void HostRun::prepare_attempt(std::size_t number) {
  attempt_.supervised.reset();  // before its link
  attempt_ = Attempt();
  attempt_.number = number;
  ++attempts_begun_;
}

void HostRun::start(const supervisor::RankVariables& variables, const Chunk& of_all) {
  expect(attempt_.state == State::ready, "the command of a host starts when the host is ready");
  at_stage(State::running, link::Stage::running);
  run_.world.tell(notice::Started{host_, attempt_.started_early});
  if (!attempt_.started_early) {
    attempt_.supervised->go(supervisor::go_of_host(variables) + own_text(), of_all);
  }
  if (run_.plan.supervision.input == supervisor::StandardInput::fed) run_.spawn(feed());
}

void HostRun::signal(int signal) {
  run_.world.tell(notice::Signalled{host_, signal});
  supervisor().signal(::sigabbrev_np(signal));
}

void HostRun::stop() {
  run_.world.tell(notice::ToldToStop{host_});
  const std::chrono::seconds grace = run_.policy.limits().grace;
  if (grace != run_.plan.limits.grace) supervisor().set_grace(grace);
  supervisor().stop_command();
  attempt_.kill_at = Clock::now() + grace;
}

/// The supervisor to signal: of the command, or, once it has ended, of the processes that it left.
supervisor::Supervised& HostRun::supervisor() {
  expect(attempt_.supervised != nullptr, "the policy signals only hosts that have a supervisor");
  if (attempt_.trailing && !std::exchange(attempt_.trailing->rest_supervised, true)) {
    run_.spawn(attempt_.supervised->supervise_rest([this](link::Received received) -> asio::awaitable<void> {
      if (received.stream == StreamId::err)
        run_.world.output.write(host_, received.stream, std::move(received.bytes));
      co_return;
    }));
  }
  return *attempt_.supervised;
}

void HostRun::abandon(link::Failure failure) {
  // Before the supervisor starts, the link knows the stage better; after the command there is none.
  if (attempt_.supervised && !attempt_.trailing && failure.stage == link::Stage::none)
    failure.stage = attempt_.stage;
  if (attempt_.state == State::trailing_output) {
    using Fate = notice::OutputOpen::Fate;
    const bool is_asked = attempt_.trailing->holders && attempt_.trailing->holders->is_asked();
    report_output_open(is_asked ? Fate::let_go : Fate::abandoned);
  }
  run_.world.tell(notice::Abandoned{host_, failure});
  attempt_.abandoned = failure;
  if (attempt_.link) attempt_.link->stop(failure);
  if (attempt_.supervised) attempt_.supervised->stop(failure);
}

HostStatus HostRun::status() const {
  const RunPolicy::State state = run_.policy.state(host_);
  const bool has_ended = state == RunPolicy::State::lingering || state == RunPolicy::State::closing ||
                         state == RunPolicy::State::done;
  return {&host(),
          state,
          has_ended && is_failure(run_.policy.outcomes()[host_]),
          attempt_.number,
          attempt_.stage,
          attempt_.active_at,
          tried_since_,
          attempt_.reading_paused,
          attempt_.kill_at};
}

/// Makes one attempt; if it succeeds, also follows the command and its output.
asio::awaitable<void> HostRun::drive() {
  const std::size_t begun = attempts_begun_;  // not the number: one that resumes begins again at 2
  std::optional<link::Failure> failure;
  // Yield first: the policy must handle Ready before follow() runs.
  co_await asio::post(run_.world.executor, asio::use_awaitable);
  try {
    if (attempt_.abandoned) throw link::HostError(*attempt_.abandoned);  // in the meantime
    co_await prepare();
    run_.happen(event::Ready{host_});
    co_await follow();
  } catch (const link::HostError& error) {
    failure = error.failure();
  }
  if (failure) {
    if (failure->stage == link::Stage::none) failure->stage = attempt_.stage;
    // If podrun itself stopped the attempt, a command that was sent with the supervisor may have started.
    const bool started = attempt_.state == State::running || attempt_.state == State::trailing_output ||
                         (attempt_.abandoned && attempt_.started_early) ||
                         (attempt_.supervised && attempt_.supervised->may_have_started());
    started ? run_.happen(event::LostHost{host_, *failure}) : run_.happen(event::NotReady{host_, *failure});
    co_await asio::post(run_.world.executor, asio::use_awaitable);  // until the policy has decided
    if (attempts_begun_ != begun) co_return;
    run_.world.tell(notice::Failed{host_, *failure});
  }
  finish();
}

void HostRun::finish() {
  attempt_.state = State::over;
  const link::Failure ended{.cause = link::Cause::abandoned};
  if (const auto input = attempt_.input.lock()) input->stop(ended);
  if (attempt_.link) attempt_.link->stop(ended);
  if (attempt_.supervised) attempt_.supervised->stop(ended);
  if (run_.world.input) run_.world.input->leave(host_);
  if (run_.world.filter) {
    Chunk rest = run_.world.filter->finish(host_);
    if (!rest.empty()) run_.world.output.write(host_, StreamId::out, std::move(rest));
  }
  run_.world.output.end(host_);
  run_.world.tell(notice::HostEnded{host_});
}

asio::awaitable<void> HostRun::prepare() {
  run_.world.tell(notice::Connecting{host_});
  at_stage(State::connecting, link::Stage::connecting);
  if (attempt_.number == 1) tried_since_ = attempt_.active_at;
  attempt_.link = run_.world.connector_for(host()).link(host());
  co_await attempt_.link->open();
  at_stage(State::connecting, link::Stage::starting_shell);
  supervisor::Supervision supervision = run_.plan.supervision;
  supervision.mark = supervisor::make_mark(run_.plan.run_id, run_.plan.kind, host_);
  supervision.grace = run_.plan.limits.grace;
  if (wants_names()) supervision.tell_names = supervisor::TellNames::yes;
  attempt_.supervised =
      std::make_unique<supervisor::Supervised>(run_.world.executor, *attempt_.link, std::move(supervision));
  const bool starts_early = run_.plan.hosts.size() == 1 && !run_.world.prepare_host && !run_.plan.limits.held;
  std::string text = starts_early ? early_go(run_.plan.command, own_text(), host(), run_.plan.run_id) : "";
  attempt_.started_early = !text.empty();
  attempt_.hello = co_await attempt_.supervised->prepare(
      run_.plan.command.files,
      [this](link::Received received) { return pass_on(std::move(received), From::start_up); },
      std::move(text));
  say_names();
  if (run_.world.prepare_host) {
    at_stage(State::connecting, run_.world.preparing);
    run_.happen(event::Reached{host_});
    co_await run_.world.prepare_host(host_, *attempt_.supervised);
  }
  run_.world.tell(notice::Ready{host_});
  at_stage(State::ready, link::Stage::ready);
}

bool HostRun::wants_names() const { return run_.world.names_hosts && run_.world.output.wants_names(); }

void HostRun::say_names() {
  if (!wants_names()) return;
  std::vector<std::string> names = attempt_.hello->names;
  for (const std::string& address : {attempt_.hello->server_address, attempt_.link->host_address()}) {
    if (!address.empty()) names.push_back(address);
  }
  run_.world.output.say_names(host_, std::move(names));
}

/// Follows the output of the command to its end. A stream that fails after the exit counts as closed.
asio::awaitable<void> HostRun::follow() {
  for (;;) {
    link::StreamEvent event = co_await attempt_.supervised->next();
    const bool started = attempt_.state != State::ready;
    if (auto* received = std::get_if<link::Received>(&event)) {
      if (started && !std::exchange(attempt_.spoke, true)) run_.happen(event::Spoke{host_});
      co_await pass_on(std::move(*received), From::command);
      continue;
    }
    const std::optional<Trailing>& trailing = attempt_.trailing;
    const auto* failure = std::get_if<link::Failure>(&event);
    const bool is_forged = failure && failure->cause == link::Cause::second_exit_status;
    if (failure && (!trailing || is_forged || (trailing->lingers && failure->stage != link::Stage::none)))
      throw link::HostError(*failure);
    if (failure && failure->stage != link::Stage::none)
      run_.world.tell(notice::LostAfterEnd{host_, *failure});
    if (failure || (trailing && std::holds_alternative<link::Closed>(event))) break;
    const bool is_closed = std::holds_alternative<link::Closed>(event);
    // A waiting host may have given up podrun, for example while this machine slept.
    const bool may_help = !started && run_.plan.limits.held;
    if (is_closed || !started)
      throw link::HostError({.stage = attempt_.stage,
                             .cause = is_closed ? link::Cause::no_exit_status : link::Cause::ended_early,
                             .retry = may_help ? link::Retry::may_help : link::Retry::no});
    report_end(event);
  }
  run_.happen(event::Closed{host_});
}

void HostRun::report_end(const link::StreamEvent& event) {
  const auto* signaled = std::get_if<link::Signaled>(&event);
  const auto end =
      signaled ? std::variant<link::Exited, link::Signaled>(*signaled) : std::get<link::Exited>(event);
  run_.world.tell(notice::CommandEnded{host_, end});
  attempt_.state = State::trailing_output;
  attempt_.trailing.emplace();
  run_.happen(event::Ended{host_, end});
}

asio::awaitable<void> HostRun::pass_on(link::Received received, From from) {
  output::Output& output = run_.world.output;
  bytes_ += received.bytes.size();
  if (attempt_.trailing) attempt_.trailing->output.add(received.bytes.size());
  attempt_.active_at = Clock::now();
  if (run_.world.on_received) run_.world.on_received(host_, received.stream, received.bytes.bytes());
  if (run_.world.filter && received.stream == StreamId::out && from == From::command) {
    received.bytes = run_.world.filter->pass(host_, std::move(received.bytes));
    if (received.bytes.empty()) co_return;
  }
  output.write(host_, received.stream, std::move(received.bytes));
  if (output.has_room(host_)) co_return;
  run_.happen(event::ReadingPaused{host_});
  attempt_.reading_paused = true;
  const auto before = output.time_of_reader();
  co_await output.wait_for_room(host_);
  attempt_.reading_paused = false;
  attempt_.active_at = Clock::now();
  if (run_.world.on_received) run_.world.on_received(host_, received.stream, {});
  run_.happen(event::ReadingResumed{host_, output.time_of_reader() - before});
}

asio::awaitable<void> HostRun::feed() {
  expect(run_.world.input != nullptr, "a run with StandardInput::fed has an Input");
  try {
    const std::shared_ptr<link::Stream> stream = co_await attempt_.supervised->open_input();
    attempt_.input = stream;
    if (is_over()) co_return;
    co_await run_.world.input->feed(host_, stream);
    stream->close_write();
    for (;;) {  // the feeder program on the host may still pass on input
      const link::StreamEvent event = co_await stream->next();
      // To the command, lost input would look like the end of its input.
      const auto* lost = std::get_if<link::Failure>(&event);
      if (lost && !is_over()) attempt_.supervised->stop(link::at_stage(*lost, link::Stage::standard_input));
      if (std::holds_alternative<link::Closed>(event) || std::holds_alternative<link::Failure>(event))
        co_return;
    }
  } catch (const link::HostError& error) {
    attempt_.supervised->stop(link::at_stage(error.failure(), link::Stage::standard_input));
  }
}

asio::awaitable<std::optional<std::string>> HostRun::run_beside(Chunk script, std::vector<std::string> words,
                                                                Wanted wanted) {
  std::string printed;
  if (is_over() || !attempt_.supervised) co_return std::nullopt;
  try {
    supervisor::ProgramReader reader(
        co_await attempt_.supervised->start_program(std::move(script), std::move(words)));
    while (const std::optional<Chunk> chunk = co_await reader.read()) {
      const std::string_view bytes = chunk->bytes();
      if (printed.size() < wanted.most) printed += bytes.substr(0, wanted.most - printed.size());
      if (!wanted.end.empty() && (bytes.ends_with(wanted.end) || printed.ends_with(wanted.end))) break;
    }
  } catch (const link::HostError&) {
    co_return std::nullopt;
  }
  co_return printed;
}

}  // namespace podrun::run
