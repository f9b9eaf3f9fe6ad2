// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/session.hpp"

#include <algorithm>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <libssh/server.h>

#include "podrun/base/duration.hpp"
#include "podrun/ssh/channel.hpp"

namespace podrun {
namespace {

/// Reads (of 4 KiB each) before the other hosts get their turn.
constexpr int kStepsAtATime = 16;

}  // namespace

Session::Session(const asio::any_io_executor& executor, std::unique_ptr<Transport> transport,
                 KeepAlive keep_alive)
    : executor_(executor),
      transport_(std::move(transport)),
      keep_alive_(keep_alive),
      keep_alive_timer_(executor) {
  transport_->at_stage("connection");
}

Session::~Session() = default;

void Session::start() {
  arm_keep_alive();
  asio::co_spawn(executor_, pump(shared_from_this()), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);  // no failure of the host
  });
}

asio::awaitable<std::shared_ptr<Stream>> Session::exec(std::string command) {
  if (failure_) throw HostError(*failure_);
  const auto channel = std::make_shared<Channel>(shared_from_this());
  co_await channel->start(std::move(command));
  co_return channel;
}

void Session::stop(const Failure& failure) {
  if (transport_) transport_->stop(failure);
}

asio::awaitable<void> Session::pump(std::shared_ptr<Session> self) {
  try {
    for (;;) {
      if (self->handle_arrivals()) {
        co_await asio::post(asio::use_awaitable);  // there may be more
      } else {
        co_await self->transport_->wait();
      }
    }
  } catch (const HostError& error) {
    self->close(error.failure());
  }
}

/// Returns whether it stopped before the end.
bool Session::handle_arrivals() {
  int steps = 0;
  while (steps < kStepsAtATime && transport_->step() && !transport_->dead()) ++steps;
  // A channel's own call may have taken in what another one waits for.
  const bool arrived = std::exchange(seen_, transport_->bytes_received()) != transport_->bytes_received();
  heard_ = heard_ || arrived;
  for (Channel* channel : channels_) channel->after_step(arrived);
  transport_->check();
  return steps == kStepsAtATime;
}

void Session::close(const Failure& failure) {
  failure_ = failure;
  keep_alive_timer_.cancel();
  for (Channel* channel : channels_) channel->detach(failure);
  transport_.reset();
}

void Session::arm_keep_alive() {
  if (keep_alive_.interval == std::chrono::seconds(0)) return;
  keep_alive_timer_.expires_after(keep_alive_.interval);
  keep_alive_timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const std::shared_ptr<Session> self = weak.lock();
    if (error || !self || !self->transport_) return;
    self->ask_if_alive();
    self->arm_keep_alive();
  });
}

void Session::ask_if_alive() {
  if (std::exchange(heard_, false)) {
    unanswered_ = 0;
    return;
  }
  if (unanswered_ == keep_alive_.count_max) {
    const std::string silence = format_duration(keep_alive_.interval * (unanswered_ + 1));
    stop({transport_->stage(), fmt::format("no answer for {}", silence)});
    return;
  }
  ++unanswered_;
  // Twice: the answer to the last question is only collected by the next call, which then asks nothing.
  for (int time = 0; time < 2; ++time) {
    transport_->call([this] { return ssh_send_keepalive(transport_->session()); });
  }
  transport_->wake();
}

}  // namespace podrun
