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

/// What libssh may keep of a stream that is not taken, in bytes. Its window stops a server at some 1.3 MB;
/// only where the other stream has little output does libssh open it again and again.
constexpr std::uint32_t kMostRefused = 16 * 1024 * 1024;

}  // namespace

/// A server that wants new keys asks behind its output. OpenSSH since 9.1 goes on passing on what we send to
/// the command; for others this must end before the supervisor misses our heartbeats.
HoldBack hold_back_for(int openssh_version, std::chrono::milliseconds orphan_timeout) {
  constexpr int kPassesInputOn = SSH_VERSION_INT(9, 1, 0);
  HoldBack hold_back;
  if (openssh_version >= kPassesInputOn) return hold_back;
  hold_back.longest = orphan_timeout / 2;
  hold_back.sign_of_life = std::min(hold_back.sign_of_life, orphan_timeout / 8);  // it is looked at only then
  return hold_back;
}

Session::Session(const asio::any_io_executor& executor, std::unique_ptr<Transport> transport,
                 KeepAlive keep_alive, HoldBack hold_back)
    : executor_(executor),
      transport_(std::move(transport)),
      keep_alive_(keep_alive),
      keep_alive_timer_(executor),
      hold_back_(hold_back),
      life_timer_(executor) {
  transport_->at_stage("connection");
  ssh_callbacks_init(&closed_callbacks_);
  closed_callbacks_.userdata = this;
  closed_callbacks_.channel_data_function = on_data_of_closed;
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
      if (self->handle_arrivals(Clock::now())) {
        co_await asio::post(asio::use_awaitable);  // there may be more
        continue;
      }
      self->reading_ = !self->holds_back();
      if (!self->reading_) self->arm_sign_of_life();
      co_await self->transport_->wait(self->reading_ ? Transport::Reading::yes : Transport::Reading::no);
    }
  } catch (const HostError& error) {
    self->close(error.failure());
  }
}

/// Returns whether it stopped before the end.
bool Session::handle_arrivals(Clock::time_point now) {
  bool all = false;
  for (int steps = 0; steps < kStepsAtATime && !all && !holds_back(); ++steps) {
    all = !transport_->step() || transport_->dead();
  }
  if (all) {
    behind_since_.reset();
    catching_up_ = false;
  }
  // Held back again, it would not be noticed when more comes.
  if (!behind_since_ && (!all || holds_back())) behind_since_ = now;
  if (!all && holds_back() && transport_->write_pending()) transport_->step();  // it reads a little as well
  // A channel's own call may have taken in what another one waits for.
  const bool arrived = std::exchange(seen_, transport_->bytes_received()) != transport_->bytes_received();
  heard_ = heard_ || arrived;
  if (arrived) close_unwanted();
  for (Channel* channel : channels_) channel->after_step(arrived);
  transport_->check();
  return !all && !holds_back();
}

/// What waits for an arrival goes before: to open a channel, to write into a full window or while keys are
/// exchanged, to read from another channel. Then libssh keeps the output, which its window bounds.
bool Session::holds_back() const {
  const auto full = [](const Channel* channel) { return channel->full(); };
  const auto waits = [](const Channel* channel) { return channel->waits_for_arrival(); };
  return !catching_up_ && std::any_of(channels_.begin(), channels_.end(), full) &&
         std::none_of(channels_.begin(), channels_.end(), waits);
}

/// A channel has begun to wait for something.
void Session::wait_for_arrival() {
  if (transport_ && !reading_) transport_->wake();
}

void Session::arm_sign_of_life() {
  if (std::exchange(life_timer_runs_, true)) return;
  life_timer_.expires_after(hold_back_.sign_of_life);
  life_timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const std::shared_ptr<Session> self = weak.lock();
    if (error || !self || !self->transport_) return;
    self->life_timer_runs_ = false;
    if (self->behind_since_) self->show_life();
  });
}

/// sshd counts what it hears from us (ClientAliveInterval); its question itself is behind the output.
void Session::show_life() {
  const std::uint64_t sent = transport_->packets_sent();
  transport_->call([this] { return ssh_send_ignore(transport_->session(), ""); });
  const bool exchanges_keys = transport_->packets_sent() == sent;  // and what we send does not go out before
  const bool too_long = hold_back_.longest && Clock::now() - *behind_since_ > *hold_back_.longest;
  catching_up_ = exchanges_keys || too_long;
  transport_->wake();
  arm_sign_of_life();
}

void Session::close_channel(ssh_channel channel) {
  ssh_set_channel_callbacks(channel, &closed_callbacks_);
  transport_->call([channel] {
    if (ssh_channel_close(channel) == SSH_AGAIN)
      ssh_channel_close(channel);  // the first did the end of input
    ssh_channel_free(channel);
    return SSH_OK;
  });
}

/// Until the server has closed the channel too, libssh keeps what it sends there. Nothing is taken: that
/// would open the window of a channel which the server may know no more.
int Session::on_data_of_closed(ssh_session, ssh_channel, void*, std::uint32_t size, int, void* self) {
  static_cast<Session*>(self)->limit_refused(size);
  return 0;
}

void Session::limit_refused(std::uint32_t bytes) {
  if (bytes > kMostRefused) stop({transport_->stage(), "the output does not stop though podrun takes none"});
}

/// Freed before its answer it would stay open there.
void Session::close_when_opened(ssh_channel channel, std::function<int()> open) {
  unwanted_.push_back({channel, std::move(open)});
}

void Session::close_unwanted() {
  std::erase_if(unwanted_, [this](const Unwanted& unwanted) {
    const int result = transport_->call(unwanted.open);
    if (result == SSH_AGAIN) return false;
    if (result == SSH_OK) {
      close_channel(unwanted.channel);
    } else {
      ssh_channel_free(unwanted.channel);
    }
    return true;
  });
}

void Session::close(const Failure& failure) {
  failure_ = failure;
  keep_alive_timer_.cancel();
  life_timer_.cancel();
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
  if (std::exchange(heard_, false) || behind_since_) {  // no silence of the host where we do not listen
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
