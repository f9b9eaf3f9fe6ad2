// SPDX-License-Identifier: Apache-2.0
// A connection after the login: the pump that handles arrivals, keep-alives, and pauses of reading.
#include "podrun/ssh/transport/ssh_session.hpp"

#include <algorithm>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <libssh/server.h>

#include "podrun/ssh/transport/channel.hpp"

namespace podrun::ssh {
namespace {

/// The number of reads (4 KiB each) before other hosts get their turn.
constexpr int kStepsAtATime = 16;

/// The most bytes of a stream that libssh may keep. Its window stops a server at about 1.3 MB, but libssh
/// opens it repeatedly while the other stream has little output.
constexpr std::uint32_t kMostRefused = 16 * 1024 * 1024;

}  // namespace

/// A server's request for new keys comes after its output. OpenSSH since 9.1 still passes podrun's input to
/// the command meanwhile. For other servers the pause must end before the supervisor misses heartbeats.
ReadingPause reading_pause_for(int openssh_version, std::chrono::milliseconds orphan_timeout) {
  constexpr int kPassesInputOn = SSH_VERSION_INT(9, 1, 0);
  ReadingPause reading_pause;
  if (openssh_version >= kPassesInputOn) return reading_pause;
  reading_pause.longest = orphan_timeout / 2;
  reading_pause.sign_of_life =
      std::min(reading_pause.sign_of_life, orphan_timeout / 8);  // `longest` is checked only then
  return reading_pause;
}

SshSession::SshSession(const asio::any_io_executor& executor, std::unique_ptr<Transport> transport,
                       KeepAlive keep_alive, ReadingPause reading_pause)
    : executor_(executor),
      transport_(std::move(transport)),
      keep_alive_(keep_alive),
      keep_alive_timer_(executor),
      reading_pause_(reading_pause),
      life_timer_(executor) {
  transport_->at_stage(link::Stage::connection);
  ssh_callbacks_init(&closed_callbacks_);
  closed_callbacks_.userdata = this;
  closed_callbacks_.channel_data_function = on_data_of_closed;
}

SshSession::~SshSession() = default;

void SshSession::start() {
  pumping_.call("SshSession::start() is called once: two pumps would share the arrivals");
  arm_keep_alive();
  asio::co_spawn(executor_, pump(shared_from_this()), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);  // an error in podrun, not of the host
  });
}

asio::awaitable<std::shared_ptr<link::Stream>> SshSession::exec(std::string command) {
  if (failure_) throw link::HostError(*failure_);
  const auto channel = std::make_shared<Channel>(shared_from_this());
  co_await channel->start(std::move(command));
  co_return channel;
}

void SshSession::stop(const link::Failure& failure) {
  if (transport_) transport_->stop(failure);
}

asio::awaitable<void> SshSession::pump(std::shared_ptr<SshSession> self) {
  try {
    for (;;) {
      if (self->handle_arrivals(Clock::now())) {
        self->transport_->push();  // the next wait() may be far away
        co_await asio::post(asio::use_awaitable);
        continue;
      }
      self->reading_ = !self->pauses_reading();
      if (!self->reading_) self->arm_sign_of_life();
      co_await self->transport_->wait(self->reading_ ? Transport::Reading::yes : Transport::Reading::no);
    }
  } catch (const link::HostError& error) {
    self->close(error.failure());
  }
}

/// Returns whether it stopped before the end.
bool SshSession::handle_arrivals(Clock::time_point now) {
  bool all = false;
  for (int steps = 0; steps < kStepsAtATime && !all && !pauses_reading(); ++steps) {
    all = !transport_->step() || transport_->dead();
  }
  if (all) {
    unread_since_.reset();
    catching_up_ = false;
  }
  // Also set when reading pauses, because later arrivals would go unnoticed.
  if (!unread_since_ && (!all || pauses_reading())) unread_since_ = now;
  if (!all && pauses_reading() && transport_->write_pending())
    transport_->step();  // step() also reads a little
  // A channel's own call may have read data that another channel waits for.
  const bool arrived = std::exchange(seen_, transport_->packets_received()) != transport_->packets_received();
  heard_ = heard_ || arrived;
  if (arrived) close_unwanted();
  for (Channel* channel : channels_) channel->after_step(arrived);
  transport_->check();
  return !all && !pauses_reading();
}

/// Whether reading is paused. Channels that wait for an arrival have priority: to open, to write into a full
/// window or during a key exchange, or to read. libssh then keeps the output, within its window.
bool SshSession::pauses_reading() const {
  const auto full = [](const Channel* channel) { return channel->full(); };
  const auto waits = [](const Channel* channel) { return channel->waits_for_arrival(); };
  return !catching_up_ && std::any_of(channels_.begin(), channels_.end(), full) &&
         std::none_of(channels_.begin(), channels_.end(), waits);
}

/// Called when a channel begins to wait for something.
void SshSession::wait_for_arrival() {
  if (transport_ && !reading_) transport_->wake();
}

void SshSession::arm_sign_of_life() {
  if (std::exchange(life_timer_runs_, true)) return;
  life_timer_.expires_after(reading_pause_.sign_of_life);
  life_timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const std::shared_ptr<SshSession> self = weak.lock();
    if (error || !self || !self->transport_) return;
    self->life_timer_runs_ = false;
    if (self->unread_since_) self->show_life();
  });
}

/// sshd counts messages from the client (ClientAliveInterval), but its own question waits until the output
/// before it is read.
void SshSession::show_life() {
  const std::uint64_t sent = transport_->packets_sent();
  transport_->call([this] { return ssh_send_ignore(transport_->session(), ""); });
  const bool exchanges_keys = transport_->packets_sent() == sent;  // libssh keeps messages until then
  const bool too_long = reading_pause_.longest && Clock::now() - *unread_since_ > *reading_pause_.longest;
  catching_up_ = exchanges_keys || too_long;
  transport_->wake();
  arm_sign_of_life();
}

void SshSession::close_channel(ssh_channel channel) {
  ssh_set_channel_callbacks(channel, &closed_callbacks_);
  transport_->call([channel] {
    if (ssh_channel_close(channel) == SSH_AGAIN)
      ssh_channel_close(channel);  // the first call only ended the input
    ssh_channel_free(channel);
    return SSH_OK;
  });
}

/// libssh keeps data until the server has closed the channel too. Reading it would open the window of a
/// channel that the server may no longer know.
int SshSession::on_data_of_closed(ssh_session, ssh_channel, void*, std::uint32_t size, int, void* self) {
  static_cast<SshSession*>(self)->limit_refused(size);
  return 0;
}

void SshSession::limit_refused(std::uint32_t bytes) {
  if (bytes > kMostRefused) stop({transport_->stage(), link::Cause::flood});
}

/// A channel freed before the server's answer would stay open on the server.
void SshSession::close_when_opened(ssh_channel channel, std::function<int()> open) {
  unwanted_.push_back({channel, std::move(open)});
}

void SshSession::close_unwanted() {
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

void SshSession::close(const link::Failure& failure) {
  failure_ = failure;
  keep_alive_timer_.cancel();
  life_timer_.cancel();
  for (Channel* channel : channels_) channel->detach(failure);
  transport_.reset();
}

void SshSession::arm_keep_alive() {
  if (keep_alive_.interval == std::chrono::seconds(0)) return;
  keep_alive_timer_.expires_after(keep_alive_.interval);
  keep_alive_timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const std::shared_ptr<SshSession> self = weak.lock();
    if (error || !self || !self->transport_) return;
    self->ask_if_alive();
    self->arm_keep_alive();
  });
}

void SshSession::ask_if_alive() {
  if (std::exchange(heard_, false) ||
      unread_since_) {  // while reading is paused, silence says nothing about the host
    unanswered_ = 0;
    return;
  }
  if (unanswered_ == keep_alive_.count_max) {
    stop({.stage = transport_->stage(),
          .cause = link::Cause::no_answer,
          .after = keep_alive_.interval * (unanswered_ + 1)});
    return;
  }
  ++unanswered_;
  // Twice: a call that only collects the answer to the last question asks no new one.
  for (int time = 0; time < 2; ++time) {
    transport_->call([this] { return ssh_send_keepalive(transport_->session()); });
  }
  transport_->wake();
}

}  // namespace podrun::ssh
