// SPDX-License-Identifier: Apache-2.0
// Notices that a host reached by a transport command is silent for good: a stopped container or a killed
// slurmstepd closes no connection. An answer proves that the host is alive. A missing answer only proves the
// opposite if the command can run a second time (`srun` without --overlap cannot), so one host is tried
// early.
#include "podrun/local/via_watch.hpp"

#include <string>

#include <asio/co_spawn.hpp>
#include <asio/use_awaitable.hpp>

namespace podrun::local {
namespace {

/// The question does not contain the answer, in case the command echoes its input.
constexpr const char* kQuestion = "echo podrun1 $((6 * 7)); exit";
constexpr const char* kAnswer = "podrun1 42";
constexpr std::size_t kMaxSaid = 64 * 1024;

/// Shorter runs start no second command.
constexpr std::chrono::milliseconds kTrialAfter{1000};
/// Keeps a thousand silent hosts from starting a thousand children at once.
constexpr std::chrono::milliseconds kBetweenStarts{50};
/// If the timer fires this much too late, podrun itself was stopped or busy, so the silence says nothing
/// about the host.
constexpr std::chrono::seconds kAway{1};

}  // namespace

/// The program's stream; reports its events to the watch.
class ViaWatch::Watched : public link::Stream {
 public:
  Watched(std::shared_ptr<ViaWatch> watch, std::shared_ptr<link::Stream> stream)
      : watch_(std::move(watch)), stream_(std::move(stream)) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() override { watch_->stop(); }

  asio::awaitable<link::StreamEvent> next() override {
    watch_->listening_ = true;
    link::StreamEvent event = co_await stream_->next();
    watch_->listening_ = false;
    std::holds_alternative<link::Received>(event) ? watch_->hear() : watch_->stop();
    co_return event;
  }
  asio::awaitable<bool> write(Chunk chunk) override { return stream_->write(std::move(chunk)); }
  void close_write() override { stream_->close_write(); }
  void stop(link::Failure failure) override { stream_->stop(std::move(failure)); }

 private:
  std::shared_ptr<ViaWatch> watch_;
  std::shared_ptr<link::Stream> stream_;
};

ViaWatch::ViaWatch(const asio::any_io_executor& executor, std::shared_ptr<Shared> shared, Start start)
    : executor_(executor),
      shared_(std::move(shared)),
      start_(std::move(start)),
      silence_(shared_->questions.count_max),
      timer_(executor) {}

std::shared_ptr<link::Stream> ViaWatch::watch(std::shared_ptr<link::Stream> stream) {
  program_ = stream;
  return std::make_shared<Watched>(shared_from_this(), std::move(stream));
}

void ViaWatch::stop() {
  stopped_ = true;
  timer_.cancel();
  drop_question();
}

void ViaWatch::hear() {
  silence_.hear();
  if (!stopped_ && !std::exchange(begun_, true))
    arm(std::min<Clock::duration>(kTrialAfter, shared_->questions.interval));
}

void ViaWatch::arm(Clock::duration time) {
  timer_.expires_after(time);
  timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const std::shared_ptr<ViaWatch> self = weak.lock();
    if (error || !self || self->stopped_) return;
    self->tick(Clock::now() < self->timer_.expiry() + kAway);
    if (!self->stopped_) self->arm(self->shared_->questions.interval);
  });
}

void ViaWatch::tick(bool in_time) {
  if (!shared_->answered && !shared_->on_trial && !tried_) ask();
  switch (silence_.end_interval(listening_ && in_time)) {
    case SilenceCount::Verdict::heard:
      drop_question();
      break;
    case SilenceCount::Verdict::quiet:
      break;
    case SilenceCount::Verdict::ask:
      if (!asking_) ask();
      break;
    case SilenceCount::Verdict::lost:
      stop();
      const auto program = program_.lock();
      if (!program || !shared_->answered) break;
      const AliveQuestions& questions = shared_->questions;
      const auto silence =
          std::chrono::ceil<std::chrono::seconds>(questions.interval * (questions.count_max + 1));
      program->stop({.stage = link::Stage::connection, .cause = link::Cause::no_answer, .after = silence});
      break;
  }
}

void ViaWatch::ask() {
  asking_ = tried_ = true;
  const bool is_trial = !shared_->answered && !std::exchange(shared_->on_trial, true);
  asio::co_spawn(executor_, question(shared_from_this(), is_trial), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);  // an error in podrun, not of the host
  });
}

void ViaWatch::drop_question() {
  if (const auto question = question_.lock()) question->stop({.cause = link::Cause::abandoned});
}

asio::awaitable<void> ViaWatch::question(std::shared_ptr<ViaWatch> self, bool is_trial) {
  Shared& shared = *self->shared_;
  const Clock::time_point now = Clock::now();
  const Clock::time_point start = std::max(now, shared.next_start);
  shared.next_start = start + kBetweenStarts;
  if (start > now) {
    asio::steady_timer turn(self->executor_, start);
    co_await turn.async_wait(asio::use_awaitable);
  }
  try {
    if (!self->stopped_) co_await self->hear_answer();
  } catch (const link::HostError&) {
    // the question could not be sent; the next look asks again
  }
  self->asking_ = false;
  if (is_trial) shared.on_trial = false;
}

asio::awaitable<void> ViaWatch::hear_answer() {
  link::Program program{.script = Chunk(kQuestion),
                        .arguments = {}};  // named: g++ 12 destroys a temporary here twice
  OnStart on_start = [this](const std::shared_ptr<link::Stream>& starting) { question_ = starting; };
  const auto stream = co_await start_(std::move(program), std::move(on_start));
  stream->close_write();
  std::string said;
  bool answered = false;
  for (;;) {
    const link::StreamEvent event = co_await stream->next();
    if (std::holds_alternative<link::Closed>(event) || std::holds_alternative<link::Failure>(event))
      co_return;
    const auto* output = std::get_if<link::Received>(&event);
    if (!output || output->stream != StreamId::out || said.size() > kMaxSaid) continue;
    said += output->bytes.bytes();
    if (answered || said.find(kAnswer) == said.npos) continue;
    answered = shared_->answered = true;
    silence_.answer();
  }
}

}  // namespace podrun::local
