// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/fan_out.hpp"

#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "podrun/run/rank_variables.hpp"
#include "podrun/run/summary.hpp"

namespace podrun {
namespace {

using Clock = std::chrono::steady_clock;

/// How long the hosts are given to be told of a Ctrl-Z.
constexpr std::chrono::milliseconds kSuspendDelay{50};

}  // namespace

FanOut::FanOut(RunPlan plan, World world)
    : plan_(std::move(plan)),
      world_(std::move(world)),
      policy_(plan_.hosts.size(), plan_.limits, std::hash<std::string>()(plan_.run_id)),
      jobs_(plan_.hosts.size()),
      lingering_(world_.executor, world_.output),
      changed_(world_.executor),
      deadline_(world_.executor),
      heartbeat_(world_.executor) {}

asio::awaitable<void> FanOut::run() {
  arm_heartbeat();
  happen(event::Begin{});
  while (!policy_.finished() || coroutines_ > 0) co_await changed_.wait();
  deadline_.cancel();
  heartbeat_.cancel();
}

void FanOut::interrupt(int signal) {
  happen(event::Interrupted{signal});
  std::string line = interrupt_line(status(), signal);
  if (!line.empty()) world_.output.say(std::move(line));
}

asio::awaitable<void> FanOut::suspend() {
  happen(event::Suspended{});
  // Twice: a heartbeat just before could overtake the first one on the host, where they are signals.
  for (int time = 0; time < 2; ++time) {
    for (Job& job : jobs_) {
      if (job.supervised && !job.ended) job.supervised->hold();
    }
    asio::steady_timer delay(world_.executor, kSuspendDelay);
    co_await delay.async_wait(asio::use_awaitable);
  }
}

Status FanOut::status() const {
  Status status{.bytes = bytes_, .presses = policy_.presses(), .grace = plan_.limits.grace};
  for (std::size_t host = 0; host < jobs_.size(); ++host) {
    const Job& job = jobs_[host];
    const RunPolicy::State state = policy_.state(host);
    const bool over = state == RunPolicy::State::lingering || state == RunPolicy::State::closing ||
                      state == RunPolicy::State::done;
    status.hosts.push_back({&plan_.hosts[host], state, over && is_failure(policy_.outcomes()[host]),
                            job.attempt, job.stage, job.active_at, job.held, job.kill_at});
  }
  return status;
}

void FanOut::resume() {
  beat();
  happen(event::Resumed{});
}

/// Events that come while one is being decided wait: what the policy said must be done before it is asked
/// again.
void FanOut::happen(RunEvent event) {
  events_.push_back(std::move(event));
  if (std::exchange(deciding_, true)) return;
  while (!events_.empty()) {
    const RunEvent next = std::move(events_.front());
    events_.pop_front();
    for (const Action& action : policy_.on(next, Clock::now())) {
      std::visit([this](const auto& what) { obey(what); }, action);
    }
  }
  deciding_ = false;
  arm_deadline();
  changed_.notify();
}

void FanOut::obey(const action::Connect& connect) { spawn(drive(connect.host)); }

void FanOut::obey(const action::ConnectLater& later) {
  const std::string of = plan_.limits.wait ? "" : fmt::format(" of {}", plan_.limits.retries + 1);
  trace(1, later.host,
        fmt::format("attempt {}{} in {:.1f} s ({})", later.attempt, of,
                    std::chrono::duration<double>(later.delay).count(), describe(later.failure)));
  Job& job = jobs_[later.host];
  job.supervised.reset();  // before its link
  job = Job();
  job.attempt = later.attempt;
}

void FanOut::obey(const action::Go& go) {
  std::vector<std::size_t> members = go.hosts;
  if (plan_.limits.serial != 0) {  // a rolling run has the ranks of all, whoever is on
    members.resize(jobs_.size());
    std::iota(members.begin(), members.end(), 0);
  }
  std::vector<Member> run;
  for (const std::size_t host : members)
    run.push_back({&plan_.hosts[host], jobs_[host].hello ? &*jobs_[host].hello : nullptr,
                   jobs_[host].link ? jobs_[host].link->own_address() : ""});
  RankVariables variables = shared_variables(run, plan_.run_id);
  const Chunk of_all(go_of_all(plan_.command, variables));
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const std::size_t host = members[rank];
    if (!std::binary_search(go.hosts.begin(), go.hosts.end(), host)) continue;
    variables.rank = rank;
    variables.worker = plan_.hosts[host].label;
    variables.host = plan_.hosts[host].name;
    start(host, variables, of_all);
  }
}

void FanOut::start(std::size_t host, const RankVariables& variables, const Chunk& of_all) {
  Job& job = jobs_[host];
  job.told_to_go = true;
  at_stage(host, "running");
  if (world_.host_started) world_.host_started(host);
  if (!job.started_early) job.supervised->go(go_of_host(variables), of_all);
  trace(2, host, job.started_early ? "go (with the supervisor)" : "go");
  if (plan_.supervision.input == StandardInput::fed) spawn(feed(host));
}

void FanOut::obey(const action::Signal& signal) {
  const char* const name = ::sigabbrev_np(signal.signal);
  trace(2, signal.host, fmt::format("sig {}", name));
  supervisor(signal.host).signal(name);
}

void FanOut::obey(const action::End& end) {
  trace(2, end.host, "end of input: TERM, grace, KILL");
  supervisor(end.host).end();
  jobs_[end.host].kill_at = Clock::now() + plan_.limits.grace;
}

/// The one that takes a signal: that of the command, or one for what the command left.
Supervised& FanOut::supervisor(std::size_t host) {
  Job& job = jobs_[host];
  if (job.command_ended && !std::exchange(job.rest_ordered, true)) {
    spawn(job.supervised->supervise_rest([this, host](Received received) -> asio::awaitable<void> {
      if (received.stream == StreamId::err)
        world_.output.write(host, received.stream, std::move(received.bytes));
      co_return;
    }));
  }
  return *job.supervised;
}

void FanOut::obey(const action::Abandon& abandon) {
  Job& job = jobs_[abandon.host];
  Failure failure = abandon.failure;
  // Before the supervisor the link knows the stage better; after the command there is none.
  if (job.supervised && !job.command_ended && failure.stage.empty()) failure.stage = job.stage;
  if (job.command_ended && !job.ended) {
    world_.output.say(
        fmt::format("podrun: [{}] the command has ended, but something holds its output open: let go",
                    plan_.hosts[abandon.host].label));
  }
  trace(2, abandon.host, "abandoned: " + describe(failure));
  job.abandoned = failure;
  if (job.link) job.link->stop(failure);
  if (job.supervised) job.supervised->stop(failure);
}

void FanOut::obey(const action::LetGo& let_go_of) {
  Job& job = jobs_[let_go_of.host];
  job.hurried = job.hurried || let_go_of.hurried;
  if (std::exchange(job.let_go, true)) {
    if (job.hurried) OutputHolders::hurry(job.holders);
    return;
  }
  if (!job.holders || !job.holders->is_asked()) {
    job.holders = std::make_shared<OutputHolders>(world_.executor);
    spawn(OutputHolders::ask(job.holders, *job.supervised));
  }
  spawn(let_go(let_go_of.host));
}

void FanOut::obey(const action::Leave&) { world_.leave(); }

/// One attempt, and what follows where it is the last.
asio::awaitable<void> FanOut::drive(std::size_t host) {
  const std::size_t attempt = jobs_[host].attempt;
  std::optional<Failure> failure;
  co_await asio::post(world_.executor, asio::use_awaitable);  // so that Ready is answered before we go on
  try {
    if (jobs_[host].abandoned) throw HostError(*jobs_[host].abandoned);  // in the meantime
    co_await prepare(host);
    happen(event::Ready{host});
    co_await follow(host);
  } catch (const HostError& error) {
    failure = error.failure();
  }
  if (failure) {
    if (failure->stage.empty()) failure->stage = jobs_[host].stage;
    const Job& job = jobs_[host];
    // What we have broken off ourselves says nothing about a command that was given with the supervisor.
    const bool started = job.told_to_go || (job.abandoned && job.started_early) ||
                         (job.supervised && job.supervised->may_have_started());
    started ? happen(event::LostHost{host, *failure}) : happen(event::NotReady{host, *failure});
    co_await asio::post(world_.executor, asio::use_awaitable);  // by now it has been decided
    if (jobs_[host].attempt != attempt) co_return;
    trace(1, host, describe(*failure));
  }
  jobs_[host].ended = true;
  lingering_.remove(plan_.hosts[host].label);
  const Failure ended{"", "the command has ended"};
  if (const auto input = jobs_[host].input.lock()) input->stop(ended);
  if (jobs_[host].link) jobs_[host].link->stop(ended);
  if (jobs_[host].supervised) jobs_[host].supervised->stop(ended);
  if (world_.input) world_.input->leave(host);
  world_.output.end(host);
  if (world_.host_ended) world_.host_ended(host);
}

asio::awaitable<void> FanOut::prepare(std::size_t host) {
  Job& job = jobs_[host];
  trace(1, host, "connecting");
  at_stage(host, "connecting");
  job.link = world_.connector_for(plan_.hosts[host]).link(plan_.hosts[host]);
  co_await job.link->open();
  at_stage(host, kStartingShell);
  Supervision supervision = plan_.supervision;
  supervision.mark = fmt::format("{}.{}.", plan_.run_id, host);
  job.supervised = std::make_unique<Supervised>(world_.executor, *job.link, std::move(supervision));
  std::string text = jobs_.size() == 1 ? early_go(plan_.command, plan_.hosts[host], plan_.run_id) : "";
  job.started_early = !text.empty();
  job.hello = co_await job.supervised->prepare(
      plan_.command.files, [this, host](Received received) { return deliver(host, std::move(received)); },
      std::move(text));
  trace(1, host, "ready");
  at_stage(host, "ready");
}

/// Its output and end. A stream that fails after the exit of the command is just closed.
asio::awaitable<void> FanOut::follow(std::size_t host) {
  Job& job = jobs_[host];
  bool exited = false;
  for (;;) {
    StreamEvent event = co_await job.supervised->next();
    if (auto* received = std::get_if<Received>(&event)) {
      if (job.told_to_go && !std::exchange(job.spoke, true)) happen(event::Spoke{host});
      co_await deliver(host, std::move(*received));
      continue;
    }
    const auto* failure = std::get_if<Failure>(&event);
    if (failure && (!exited || (job.lingers && !failure->stage.empty()))) throw HostError(*failure);
    if (failure && !failure->stage.empty()) {
      world_.output.say(fmt::format("podrun: [{}] lost after the command ended, output may be missing: {}",
                                    plan_.hosts[host].label, describe(*failure)));
    }
    if (failure || (exited && std::holds_alternative<Closed>(event))) break;
    if (std::holds_alternative<Closed>(event))
      throw HostError({job.stage, "the connection ended without an exit status"});
    if (!job.told_to_go) throw HostError({job.stage, "the supervisor ended before the start"});
    exited = true;
    tell_end(host, event);
  }
  happen(event::Closed{host});
}

void FanOut::tell_end(std::size_t host, const StreamEvent& event) {
  const auto* signaled = std::get_if<Signaled>(&event);
  const auto end = signaled ? std::variant<Exited, Signaled>(*signaled) : std::get<Exited>(event);
  trace(1, host, std::visit([](auto how) { return describe(HostOutcome(how)); }, end));
  jobs_[host].late = {};
  jobs_[host].command_ended = true;
  happen(event::Ended{host, end});
}

asio::awaitable<void> FanOut::deliver(std::size_t host, Received received) {
  bytes_ += received.bytes.size();
  jobs_[host].late.add(received.bytes.size());
  jobs_[host].active_at = Clock::now();
  world_.output.write(host, received.stream, std::move(received.bytes));
  if (world_.output.has_room(host)) co_return;
  happen(event::Held{host});
  jobs_[host].held = true;
  const auto before = world_.output.time_of_reader();
  co_await world_.output.wait_for_room(host);
  jobs_[host].held = false;
  jobs_[host].active_at = Clock::now();
  happen(event::Released{host, world_.output.time_of_reader() - before});
}

asio::awaitable<void> FanOut::feed(std::size_t host) {
  Job& job = jobs_[host];
  try {
    const std::shared_ptr<Stream> stream = co_await job.supervised->open_input();
    job.input = stream;
    if (job.ended) co_return;
    co_await world_.input->feed(host, stream);
    stream->close_write();
    for (;;) {  // it is still passing on what it has
      const StreamEvent event = co_await stream->next();
      // What has not arrived would look like the end of the input there.
      const auto* lost = std::get_if<Failure>(&event);
      if (lost && !job.ended) job.supervised->stop({"standard input", lost->what});
      if (std::holds_alternative<Closed>(event) || std::holds_alternative<Failure>(event)) co_return;
    }
  } catch (const HostError& error) {
    job.supervised->stop({"standard input", error.failure().what});
  }
}

asio::awaitable<void> FanOut::let_go(std::size_t host) {
  Job& job = jobs_[host];
  const std::shared_ptr<OutputHolders> holders = job.holders;
  co_await OutputHolders::wait(holders);
  if (job.ended) co_return;
  const LateOutput::Fate fate = job.late.decide(holders->answer(), holders->names(), job.held);
  if (fate == LateOutput::Fate::lingers) {
    linger(host);
    co_return;
  }
  if (!job.hurried && fate == LateOutput::Fate::looked_at_again) {
    job.let_go = false;
    happen(event::StillArriving{host});
    co_return;
  }
  world_.output.say(fmt::format("podrun: [{}] the command has ended, but {}: let go", plan_.hosts[host].label,
                                holders->describe()));
  job.supervised->stop({"", "let go"});
}

/// The run goes on; it is said where it is not about to be ended.
void FanOut::linger(std::size_t host) {
  Job& job = jobs_[host];
  job.let_go = false;
  job.hurried = false;
  if (!std::exchange(job.lingers, true) && policy_.presses() == 0 && !policy_.culprit())
    lingering_.add(plan_.hosts[host].label, job.holders->names());
  happen(event::Lingers{host});
}

void FanOut::spawn(asio::awaitable<void> coroutine) {
  ++coroutines_;
  asio::co_spawn(world_.executor, std::move(coroutine), [this](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);  // no host's failure: ends the process in main
    --coroutines_;
    changed_.notify();
  });
}

void FanOut::arm_deadline() {
  const TimePoint due = policy_.deadline().value_or(TimePoint::max());
  if (due == deadline_.expiry()) return;
  deadline_.expires_at(due);
  deadline_.async_wait([this](const std::error_code& error) {
    if (!error) happen(event::Tick{});
  });
}

void FanOut::arm_heartbeat() {
  heartbeat_.expires_after(heartbeat_interval(plan_.supervision.orphan_timeout));
  heartbeat_.async_wait([this](const std::error_code& error) {
    if (error) return;
    beat();
    arm_heartbeat();
  });
}

void FanOut::beat() {
  for (Job& job : jobs_) {
    if (job.supervised && !job.ended) job.supervised->heartbeat();
  }
}

void FanOut::at_stage(std::size_t host, const char* stage) {
  jobs_[host].stage = stage;
  jobs_[host].active_at = Clock::now();
}

void FanOut::trace(int verbosity, std::size_t host, const std::string& text) {
  if (plan_.verbosity < verbosity) return;
  world_.output.say(
      fmt::format("podrun: [{}] {}: {}", plan_.hosts[host].label, plan_.hosts[host].name, text));
}

}  // namespace podrun
