// SPDX-License-Identifier: Apache-2.0
// One program on a host, as a Stream over a channel of libssh: flow control, exit status, stop.
#include "podrun/ssh/transport/channel.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "podrun/hosts/host.hpp"
#include "podrun/ssh/transport/channel_replies.hpp"

namespace podrun::ssh {
namespace {

/// The most output in bytes that waits here to be read.
constexpr std::size_t kMaxKept = 128 * 1024;

}  // namespace

Channel::Channel(std::shared_ptr<SshSession> session)
    : session_(std::move(session)),
      readable_(session_->executor_),
      writable_(session_->executor_),
      progress_(session_->executor_) {
  session_->channels_.push_back(this);
}

Channel::~Channel() {
  release();
  std::erase(session_->channels_, this);
}

void Channel::create() {
  creating_.call("Channel::start() or forward() is called, once");
  channel_ = ssh_channel_new(session_->transport_->session());
  if (!channel_) throw link::HostError(session_->transport_->failure());
  ssh_callbacks_init(&callbacks_);
  callbacks_.userdata = this;
  callbacks_.channel_data_function = on_data;
  callbacks_.channel_eof_function = on_eof;
  callbacks_.channel_close_function = on_close;
  callbacks_.channel_exit_status_function = on_exit_status;
  callbacks_.channel_exit_signal_function = on_exit_signal;
  ssh_set_channel_callbacks(channel_, &callbacks_);
  number_ = session_->next_number_++;
}

asio::awaitable<void> Channel::start(const std::string& command) {
  create();
  // sshd gives its first channel number 0, and libssh assumes 0 until it knows. So the command can be sent
  // together with the opening, which saves a round trip.
  const bool first = !std::exchange(session_->used_, true);
  const bool at_once = first && ssh_get_openssh_version(session_->transport_->session()) > 0;
  open_ = [channel = channel_] { return ssh_channel_open_session(channel); };
  const auto run = [&] { return ssh_channel_request_exec(channel_, command.c_str()); };
  opened_ = at_once && session_->transport_->call(open_) != SSH_ERROR;
  try {
    if (!opened_) co_await finish(open_, link::Stage::opening_channel);
    opened_ = true;
    co_await finish(run, link::Stage::running_shell);
  } catch (const link::HostError& error) {
    const link::Failure& failure = error.failure();
    // sshd says of the command that it knows no such channel, and ends the connection. The detail is its
    // text.
    const bool refused_at_once =
        at_once && failure.cause == link::Cause::closed && failure.detail.ends_with("unknown channel 0");
    if (refused_at_once)
      throw link::HostError({link::Stage::opening_channel, link::Cause::too_many_channels});
    const bool goes_on = !failure_ && !session_->transport_->dead();
    if (!opened_ && goes_on) open_ = nullptr;  // refused
    if (!first && goes_on) throw ChannelRefused(failure);
    throw;
  }
}

asio::awaitable<void> Channel::forward(std::string host, std::uint16_t port) {
  create();
  is_forwarded_ = true;
  session_->used_ = true;
  // The last two arguments name the connection's origin, which has no meaning here. RFC 4254 7.2
  open_ = [channel = channel_, host, port] {
    return ssh_channel_open_forward(channel, host.c_str(), port, "127.0.0.1", 0);
  };
  try {
    co_await finish(open_, link::Stage::forwarding);
  } catch (const link::HostError&) {
    if (failure_ || session_->transport_->dead()) throw;
    open_ = nullptr;  // refused
    link::Failure failure = forward_refused(ssh_get_error(session_->transport_->session()), number_);
    if (failure.detail == "connection refused" && port != hosts::kSshPort)
      failure.detail += fmt::format(" at port {}", port);
    throw link::HostError(std::move(failure));
  }
  opened_ = true;
}

/// Repeats a request until it is answered: libssh only reads the answer when the request is repeated.
template <typename Request>
asio::awaitable<void> Channel::finish(Request request, link::Stage stage) {
  starting_ = true;
  for (;;) {
    if (failure_) throw link::HostError(*failure_);
    const int result = session_->transport_->call(request);
    if (result == SSH_OK) break;
    if (result == SSH_ERROR) {
      throw link::HostError(link::at_stage(session_->transport_->failure(), stage));
    }
    session_->transport_->acknowledge_at_once();
    session_->transport_->wake();
    co_await progress_.wait();
  }
  starting_ = false;
}

int Channel::on_data(ssh_session, ssh_channel, void* data, std::uint32_t size, int is_stderr, void* self) {
  auto& channel = *static_cast<Channel*>(self);
  const StreamId stream = is_stderr ? StreamId::err : StreamId::out;
  const auto taken =
      static_cast<std::uint32_t>(std::min<std::size_t>(size, kMaxKept - std::min(channel.kept_, kMaxKept)));
  channel.keep(stream, {static_cast<const char*>(data), taken});
  channel.refused_[index_of(stream)] = taken < size;
  channel.session_->limit_refused(size - taken);
  channel.readable_.notify();
  return static_cast<int>(taken);
}

/// For a command the exit is still to come.
void Channel::on_eof(ssh_session session, ssh_channel libssh, void* self) {
  if (static_cast<Channel*>(self)->is_forwarded_) on_close(session, libssh, self);
}

void Channel::on_close(ssh_session, ssh_channel, void* self) {
  auto& channel = *static_cast<Channel*>(self);
  channel.closed_ = true;
  channel.readable_.notify();
  channel.writable_.notify();
}

void Channel::on_exit_status(ssh_session, ssh_channel, int status, void* self) {
  auto& channel = *static_cast<Channel*>(self);
  channel.end_ = exited_with(status);
  channel.readable_.notify();
}

void Channel::on_exit_signal(ssh_session, ssh_channel, const char* signal, int, const char*, const char*,
                             void* self) {
  auto& channel = *static_cast<Channel*>(self);
  channel.end_ = signaled_by(signal);
  channel.readable_.notify();
}

void Channel::keep(StreamId stream, std::string_view rest) {
  kept_ += rest.size();
  while (!rest.empty()) {
    const bool full =
        pieces_.empty() || pieces_.back().stream != stream || pieces_.back().bytes.size() == Chunk::kMaxSize;
    if (full) pieces_.push_back({stream, {}});
    std::string& bytes = pieces_.back().bytes;
    const std::string_view part = rest.substr(0, Chunk::kMaxSize - bytes.size());
    bytes += part;
    rest.remove_prefix(part.size());
  }
}

/// Reads the output that on_data() left with libssh, because libssh does not offer it again.
void Channel::take_refused() {
  std::array<char, Chunk::kMaxSize> buffer;  // on the stack, so that no host keeps one while it waits
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const int is_stderr = stream == StreamId::err ? 1 : 0;
    while (channel_ && refused_[index_of(stream)] && kept_ + buffer.size() <= kMaxKept) {
      const int count = session_->transport_->call(
          [&] { return ssh_channel_read_nonblocking(channel_, buffer.data(), buffer.size(), is_stderr); });
      if (count == SSH_ERROR) break;  // the session is dead and this output lost: the pump will report that
      // Keep it even if there is no more room: the call may have handled arrivals, and on_data() filled it.
      if (count > 0) keep(stream, {buffer.data(), static_cast<std::size_t>(count)});
      if (count <= 0) refused_[index_of(stream)] = false;
    }
  }
  session_->transport_->wake();  // to send the message that the window has grown
}

asio::awaitable<link::StreamEvent> Channel::next() {
  for (;;) {
    if (pieces_.empty() && full()) take_refused();
    if (!pieces_.empty()) {
      Piece piece = std::move(pieces_.front());
      pieces_.pop_front();
      kept_ -= piece.bytes.size();
      co_return link::Received{piece.stream, Chunk(std::move(piece.bytes))};
    }
    if (!full()) {  // if full after take_refused(), the session is dead: the pump will report that
      if (end_ && !std::exchange(end_told_, true)) {
        co_return std::visit([](auto end) { return link::StreamEvent(end); }, *end_);
      }
      if (closed_) co_return link::Closed{};
      if (failure_) co_return *failure_;
    }
    reading_ = true;
    session_->wait_for_arrival();
    co_await readable_.wait();
    reading_ = false;
  }
}

bool Channel::can_write() const {
  // libssh queues without limit, so write one piece at a time. It does not report that the window grows.
  return channel_ && !session_->transport_->write_pending() && ssh_channel_window_size(channel_) > 0;
}

/// Whether libssh keeps some of the output.
bool Channel::full() const { return channel_ && (refused_[0] || refused_[1]); }

bool Channel::waits_for_arrival() const {
  if (!channel_) return false;
  const bool window_is_shut = writing_ && ssh_channel_window_size(channel_) == 0;
  return starting_ || reading_ || exchanges_keys_ || window_is_shut;
}

asio::awaitable<bool> Channel::write(Chunk chunk) {
  std::string_view rest = chunk.bytes();
  while (!rest.empty()) {
    if (!channel_ || closed_ || input_ended_) co_return false;
    if (can_write()) {
      const int count = session_->transport_->call(
          [&] { return ssh_channel_write(channel_, rest.data(), static_cast<std::uint32_t>(rest.size())); });
      if (count < 0) co_return false;
      rest.remove_prefix(static_cast<std::size_t>(count));
      if (count > 0) session_->transport_->wake();
      if (count > 0) continue;
      exchanges_keys_ = true;
    }
    writing_ = true;
    session_->wait_for_arrival();
    co_await writable_.wait();
    writing_ = exchanges_keys_ = false;
  }
  co_return true;
}

void Channel::close_write() {
  if (!channel_ || std::exchange(input_ended_, true)) return;
  session_->transport_->call([this] { return ssh_channel_send_eof(channel_); });
  session_->transport_->wake();
  writable_.notify();
}

void Channel::stop(link::Failure failure) {
  if (failure_ && !channel_) return;  // the connection has ended: deliver what arrived before
  if (!failure_) failure_ = std::move(failure);
  pieces_.clear();
  closed_ = false;  // only the failure is reported
  end_.reset();
  release();
  readable_.notify();
  writable_.notify();
  progress_.notify();
}

/// Called after the pump has handled something.
void Channel::after_step(bool arrived) {
  if (starting_ && arrived) progress_.notify();
  if (writing_ && can_write() && (arrived || !exchanges_keys_)) writable_.notify();
}

/// The session ends. libssh frees its channels itself.
void Channel::detach(const link::Failure& failure) {
  if (channel_) ssh_remove_channel_callbacks(channel_, &callbacks_);
  channel_ = nullptr;
  if (!failure_) failure_ = failure;
  if (refused_[0] || refused_[1]) {  // output is lost with the session: report no end
    closed_ = false;
    if (!end_told_) end_.reset();
  }
  readable_.notify();
  writable_.notify();
  progress_.notify();
}

void Channel::release() {
  if (!channel_) return;
  // libssh would still call them until the host has closed the channel too.
  ssh_remove_channel_callbacks(channel_, &callbacks_);
  // For a channel that was never opened libssh would close number 0, which is another channel.
  if (opened_) {
    session_->close_channel(channel_);
  } else if (open_) {
    session_->close_when_opened(channel_, std::move(open_));
  } else {
    ssh_channel_free(channel_);
  }
  channel_ = nullptr;
  session_->transport_->wake();
}

}  // namespace podrun::ssh
