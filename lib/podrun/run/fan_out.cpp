// SPDX-License-Identifier: Apache-2.0
// The loop of a run: the queue of events, the timers, and the actions of the policy.
#include "podrun/run/fan_out.hpp"

#include <algorithm>
#include <csignal>
#include <functional>
#include <numeric>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include "podrun/run/rank_variables.hpp"

namespace podrun::run {
namespace {

/// The time for a message about podrun's suspension to reach the hosts.
constexpr std::chrono::milliseconds kSuspendDelay{50};

}  // namespace

FanOut::FanOut(RunPlan plan, RunWorld world)
    : plan_(std::move(plan)),
      world_(std::move(world)),
      policy_(plan_.hosts.size(), plan_.limits, std::hash<std::string>()(plan_.run_id)),
      run_of_hosts_{plan_, world_, policy_, [this](RunEvent event) { happen(std::move(event)); },
                    [this](asio::awaitable<void> coroutine) { spawn(std::move(coroutine)); }},
      changed_(world_.executor),
      deadline_(world_.executor),
      heartbeat_(world_.executor) {
  for (std::size_t host = 0; host < plan_.hosts.size(); ++host) host_runs_.emplace_back(run_of_hosts_, host);
}

FanOut::~FanOut() {
  expect_at_end(coroutines_ == 0 || left_, "a FanOut ends after run(), since its coroutines refer to it");
}

asio::awaitable<void> FanOut::run() {
  running_.call("FanOut::run() is called once");
  arm_heartbeat();
  happen(event::Begin{});
  while (!policy_.finished() || coroutines_ > 0) co_await changed_.wait();
  deadline_.cancel();
  heartbeat_.cancel();
}

void FanOut::interrupt(int signal) {
  happen(event::Interrupted{signal});
  const bool goes_on = signal == SIGINT && !policy_.interrupted_by();  // without late hosts
  if (!goes_on) world_.tell(notice::Interrupted{signal, status()});
}

void FanOut::release(std::string text, std::vector<std::string> texts_of_hosts) {
  expect(plan_.limits.held, "only a held run is released");
  expect(texts_of_hosts.empty() || texts_of_hosts.size() == plan_.hosts.size(), "each host has its text");
  plan_.command.text = std::move(text);
  plan_.texts_of_hosts = std::move(texts_of_hosts);
  happen(event::Released{});
}

asio::awaitable<void> FanOut::suspend() {
  happen(event::Suspended{});
  // Twice, because both messages are signals on the host, where an earlier heartbeat could overtake the first
  // one.
  for (int time = 0; time < 2; ++time) {
    for (HostRun& host : host_runs_) host.suspend();
    asio::steady_timer delay(world_.executor, kSuspendDelay);
    co_await delay.async_wait(asio::use_awaitable);
  }
}

Status FanOut::status() const {
  Status status{
      .presses = policy_.presses(),
      .grace = plan_.limits.grace,
      .attempts = plan_.limits.wait || !plan_.limits.retries_timeouts ? 0 : plan_.limits.retries + 1};
  for (const HostRun& host : host_runs_) {
    status.hosts.push_back(host.status());
    status.bytes += host.bytes();
  }
  return status;
}

/// Queues events that arrive during a decision: its actions must be done before the policy decides again.
void FanOut::happen(RunEvent event) {
  main_.check("FanOut is for the main thread");
  events_.push_back(std::move(event));
  if (std::exchange(deciding_, true)) return;
  while (!events_.empty()) {
    const RunEvent next = std::move(events_.front());
    events_.pop_front();
    for (const Action& action : policy_.on(next, std::chrono::steady_clock::now())) {
      std::visit([this](const auto& what) { perform(what); }, action);
    }
  }
  deciding_ = false;
  arm_deadline();
  changed_.notify();
}

void FanOut::perform(const action::ConnectLater& later) {
  world_.tell(notice::AttemptLater{later.host, later.attempt, later.delay, later.failure});
  host_runs_[later.host].prepare_attempt(later.attempt);
}

void FanOut::perform(const action::Go& go) {
  expect(std::ranges::is_sorted(go.hosts), "the hosts of action::Go are in order, since ranks are");
  std::vector<std::size_t> members = go.hosts;
  if (plan_.limits.serial != 0) {  // in a rolling run the ranks count the hosts of all batches
    members.resize(host_runs_.size());
    std::iota(members.begin(), members.end(), 0);
  }
  std::vector<Member> run;
  for (const std::size_t host : members)
    run.push_back({&plan_.hosts[host], host_runs_[host].hello(), host_runs_[host].own_address()});
  supervisor::RankVariables variables = shared_variables(run, plan_.run_id);
  const Chunk of_all(supervisor::go_of_all(plan_.command, variables));
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const std::size_t host = members[rank];
    if (!std::binary_search(go.hosts.begin(), go.hosts.end(), host)) continue;
    variables.rank = rank;
    variables.worker = plan_.hosts[host].worker;
    variables.host = plan_.hosts[host].name;
    variables.slots = plan_.hosts[host].slots;
    host_runs_[host].start(variables, of_all);
  }
}

void FanOut::run_beside(std::size_t host, Chunk script, std::vector<std::string> words,
                        HostRun::Wanted wanted, std::function<void(std::optional<std::string>)> done) {
  expect(host < host_runs_.size(), "FanOut::run_beside() is for a host of the run");
  spawn(run_beside(host_runs_[host], std::move(script), std::move(words), wanted, std::move(done)));
}

asio::awaitable<void> FanOut::run_beside(HostRun& host, Chunk script, std::vector<std::string> words,
                                         HostRun::Wanted wanted,
                                         std::function<void(std::optional<std::string>)> done) {
  done(co_await host.run_beside(std::move(script), std::move(words), wanted));
}

asio::awaitable<void> FanOut::tell_late(std::vector<std::size_t> hosts) {
  // Yield first: the host whose end made the policy ask for this still has to pass on its last output.
  co_await asio::post(world_.executor, asio::use_awaitable);
  co_await world_.output.drain();
  std::erase_if(hosts, [this](std::size_t host) {
    const RunPolicy::State state = policy_.state(host);
    return state != RunPolicy::State::waiting && state != RunPolicy::State::connecting;
  });
  if (!hosts.empty()) world_.tell(notice::Late{std::move(hosts)});
}

void FanOut::spawn(asio::awaitable<void> coroutine) {
  ++coroutines_;
  asio::co_spawn(world_.executor, std::move(coroutine), [this](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);  // not a failure of a host: ends the process in main
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
  heartbeat_.expires_after(supervisor::heartbeat_interval(plan_.supervision.orphan_timeout));
  heartbeat_.async_wait([this](const std::error_code& error) {
    if (error) return;
    beat();
    arm_heartbeat();
  });
}

}  // namespace podrun::run
