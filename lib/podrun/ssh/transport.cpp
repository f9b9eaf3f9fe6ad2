// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/transport.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <libssh/server.h>

#include "podrun/base/adopt.hpp"
#include "podrun/base/lower_first.hpp"

namespace podrun {
namespace {

using Descriptor = asio::posix::stream_descriptor;

constexpr std::size_t kLongestError = 300;  // a server may have written it

/// Messages that libssh keeps for a server that reads none of them. What podrun sends by itself is far less.
constexpr std::uint64_t kMostUnread = 10'000;

bool is_of_network(std::string_view error) {
  for (const int number : {ECONNRESET, ECONNABORTED, EPIPE, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN}) {
    if (error == std::generic_category().message(number)) return true;
  }
  return false;
}

/// Whether an error of libssh's is one of the network's, or of a server in distress (MaxStartups): these may
/// pass. Not all come with libssh's prefix.
bool may_pass(std::string_view error) { return error.starts_with("Socket error: ") || is_of_network(error); }

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// libssh's `Socket error: Connection reset by peer`, `Received SSH_MSG_DISCONNECT: 2:Too many …`, `Channel
/// opening failure: channel 44 error (2) open failed` and `Channel request exec failed`, for people.
std::string readable(std::string_view error) {
  error = error.substr(0, kLongestError);
  if (take_prefix(error, "Socket error: ")) {
    // Where libssh has written to what it had closed itself, on the server's word, it names any old errno.
    const bool closed = error == std::generic_category().message(EPIPE) || !is_of_network(error);
    return closed ? "closed by the server" : lower_first(error);
  }
  if (take_prefix(error, "Received SSH_MSG_DISCONNECT: ")) {
    const std::size_t colon = error.find(':');
    const std::string_view text = error.substr(colon == error.npos ? 0 : colon + 1);
    return text.empty() ? "closed by the server" : fmt::format("closed by the server: {}", text);
  }
  if (take_prefix(error, "Channel opening failure: ")) {
    const std::size_t reason = error.find(") ");
    return fmt::format("refused by the server: {}", error.substr(reason == error.npos ? 0 : reason + 2));
  }
  if (take_prefix(error, "Packet filter: rejected packet "))
    return fmt::format("the server sends a message out of turn {}", error);
  if (error == "Channel request exec failed") return "refused by the server";
  for (const std::string_view garbage : {"Packet len too high", "too large banner"}) {
    if (error.find(garbage) != error.npos) return "what the server sends is no SSH";
  }
  return error.empty() ? "closed" : lower_first(error);
}

/// A server has nothing to ask for (channels, for example). Without this libssh keeps such requests; by 1 it
/// is told to refuse them.
int refuse_request(ssh_session, ssh_message, void*) { return 1; }

}  // namespace

Transport::Transport(const asio::any_io_executor& executor, int descriptor, EndOfWay end_of_way)
    : waits_(std::make_shared<Waits>(executor)),
      session_(ssh_new()),
      event_(ssh_event_new()),
      end_of_way_(std::move(end_of_way)) {
  const std::error_code refused = adopt(waits_->descriptor, descriptor);
  if (!session_ || !event_) throw std::bad_alloc();
  if (refused) throw HostError({stage_, refused.message(), Retry::may_help});
  bool no = false;
  ssh_options_set(session_.get(), SSH_OPTIONS_PROCESS_CONFIG, &no);
  // Both keep libssh from asking NSS for the user's home; the user's name goes with the login.
  set(SSH_OPTIONS_SSH_DIR, "/nonexistent");
  set(SSH_OPTIONS_USER, "x");
  set(SSH_OPTIONS_HOST, "127.0.0.1");        // only used to look for configuration and host keys
  set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null");  // HostKeys judges
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  set(SSH_OPTIONS_COMPRESSION, "no");
  ssh_set_message_callback(session_.get(), refuse_request, nullptr);
  ssh_set_counters(session_.get(), &socket_counter_, &packet_counter_);
  ssh_set_blocking(session_.get(), 0);
}

Transport::~Transport() {
  // asio lets go of the descriptor first; then libssh closes it, if it has not yet.
  if (waits_->descriptor.is_open() && given_) waits_->descriptor.release();
  std::error_code ignored;
  waits_->descriptor.close(ignored);
  if (given_) ssh_event_remove_session(event_.get(), session_.get());
}

void Transport::set(ssh_options_e option, const std::string& value) {
  if (ssh_options_set(session_.get(), option, value.c_str()) < 0) throw HostError(failure());
}

void Transport::set(ssh_options_e option, unsigned value) {
  if (ssh_options_set(session_.get(), option, &value) < 0) throw HostError(failure());
}

asio::awaitable<void> Transport::connect() {
  const auto continue_connect = [this] { return given_ ? ssh_connect(session_.get()) : begin(); };
  for (;;) {
    const int result = call(continue_connect);
    if (result == SSH_OK) break;
    if (ssh_get_serverbanner(session_.get())) stage_ = "key exchange";
    if (result == SSH_ERROR) throw HostError(failure());
    check();
    co_await wait();
  }
}

int Transport::begin() {
  int descriptor = waits_->descriptor.native_handle();
  ssh_options_set(session_.get(), SSH_OPTIONS_FD, &descriptor);
  given_ = true;
  const int result = ssh_connect(session_.get());
  // It has made the descriptor blocking; then a send to a peer that reads nothing would hang.
  if (ssh_get_fd(session_.get()) == descriptor) {
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  }
  ssh_event_add_session(event_.get(), session_.get());  // not before: it has no poll context until now
  return result;
}

bool Transport::step() {
  return call([this] { return ssh_event_dopoll(event_.get(), 0); }) == SSH_OK;
}

asio::awaitable<void> Transport::wait(Reading reading) {
  const std::shared_ptr<Waits> waits = waits_;
  const auto wait_for = [&waits](Descriptor::wait_type type, bool Waits::*pending) {
    if (std::exchange((*waits).*pending, true)) return;
    waits->descriptor.async_wait(type, [waits, pending](const std::error_code&) {
      (*waits).*pending = false;
      waits->event.notify();
    });
  };
  if (waits->descriptor.is_open()) {
    if (reading == Reading::yes) wait_for(Descriptor::wait_read, &Waits::readable);
    if (write_pending()) wait_for(Descriptor::wait_write, &Waits::writable);
  }
  co_await waits->event.wait();
  if (stopped_) throw HostError(*stopped_);
}

void Transport::acknowledge_at_once() const {
  const int yes = 1;
  ::setsockopt(waits_->descriptor.native_handle(), IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);
}

bool Transport::dead() const {
  // Not ssh_is_connected(): that stays true after a bad packet.
  return (ssh_get_status(session_.get()) & (SSH_CLOSED | SSH_CLOSED_ERROR)) != 0;
}

bool Transport::write_pending() const { return (ssh_get_status(session_.get()) & SSH_WRITE_PENDING) != 0; }

Failure Transport::failure() const {
  const std::string_view error = ssh_get_error(session_.get());
  const bool says_why = error.starts_with("Received SSH_MSG_DISCONNECT: ");
  const std::optional<Failure> end = end_of_way_ && !says_why ? end_of_way_() : std::nullopt;
  if (end) return *end;
  return {stage_, readable(error), may_pass(error) ? Retry::may_help : Retry::no};
}

void Transport::stop(Failure failure) {
  if (!stopped_) stopped_ = std::move(failure);
  wake();
}

void Transport::check() const {
  if (stopped_) throw HostError(*stopped_);
  if (dead()) throw HostError(failure());
  if (packets_sent() - packets_flushed_ > kMostUnread) {
    throw HostError({stage_, "the server asks without end and reads no answer"});
  }
}

void Transport::lend() { waits_->descriptor.release(); }

void Transport::take_back() {
  const int descriptor = ssh_get_fd(session_.get());
  if (descriptor < 0) return;
  std::error_code refused;  // it stays libssh's
  waits_->descriptor.assign(descriptor, refused);
  if (refused) throw HostError({stage_, refused.message(), Retry::may_help});
}

void Transport::look_after_call() {
  if (!write_pending()) packets_flushed_ = packets_sent();
  // At once, before the number can become another connection's.
  if (given_ && waits_->descriptor.is_open() && ssh_get_fd(session_.get()) < 0) waits_->descriptor.release();
}

}  // namespace podrun
