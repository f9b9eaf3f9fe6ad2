// SPDX-License-Identifier: Apache-2.0
// Uses libssh without blocking: calls it, waits for the socket, and limits what a server may request.
#include "podrun/ssh/transport/transport.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <libssh/server.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/transport/opening.hpp"

namespace podrun::ssh {
namespace {

using Descriptor = asio::posix::stream_descriptor;

constexpr std::size_t kLongestError = 300;  // a server may have written the text

/// The most messages that libssh may keep for a server that reads none. podrun alone sends far fewer.
constexpr std::uint64_t kMostUnread = 10'000;

bool is_of_network(std::string_view error) {
  for (const int number : {ECONNRESET, ECONNABORTED, EPIPE, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN}) {
    if (error == std::generic_category().message(number)) return true;
  }
  return false;
}

/// Whether a libssh error may be temporary: a network error, or a busy server (MaxStartups). Not all have
/// libssh's prefix.
bool may_pass(std::string_view error) { return error.starts_with("Socket error: ") || is_of_network(error); }

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

struct Explanation {
  link::Cause cause;
  std::string detail = {};
};

Explanation explain_network(std::string_view error) {
  const auto is = [error](int number) { return error == std::generic_category().message(number); };
  if (is(ETIMEDOUT)) return {link::Cause::timed_out};
  if (is(ECONNRESET) || is(ECONNABORTED)) return {link::Cause::reset, lower_first(error)};
  // Where libssh has written to what it had closed itself, on the server's word, it names any old errno.
  if (is(EPIPE) || !is_of_network(error)) return {link::Cause::closed};
  return {link::Cause::unreachable, lower_first(error)};
}

/// libssh's `Socket error: Connection reset by peer`, `Received SSH_MSG_DISCONNECT: 2:Too many …`, `Channel
/// opening failure: channel 44 error (2) open failed` and `Channel request exec failed`.
Explanation explain(std::string_view error) {
  if (auto no_match = explain_no_match(error)) return {link::Cause::protocol_error, std::move(*no_match)};
  error = error.substr(0, kLongestError);
  if (take_prefix(error, "Socket error: ")) return explain_network(error);
  if (take_prefix(error, "Received SSH_MSG_DISCONNECT: ")) {
    const std::size_t colon = error.find(':');
    return {link::Cause::closed, std::string(error.substr(colon == error.npos ? 0 : colon + 1))};
  }
  if (take_prefix(error, "Channel opening failure: ")) {
    const std::size_t reason = error.find(") ");
    return {link::Cause::request_refused, std::string(error.substr(reason == error.npos ? 0 : reason + 2))};
  }
  if (take_prefix(error, "Packet filter: rejected packet "))
    return {link::Cause::protocol_error, fmt::format("the server sends a message out of turn {}", error)};
  if (error == "Channel request exec failed") return {link::Cause::request_refused};
  for (const std::string_view garbage : {"Packet len too high", "too large banner"}) {
    if (error.find(garbage) != error.npos) return {link::Cause::not_ssh};
  }
  if (error.starts_with("Wrong state in callback_receive_banner"))  // libssh 0.11, after an `SSH-1.5-`
    return {link::Cause::protocol_error, "no version of SSH protocol usable"};
  if (error.empty()) return {link::Cause::closed};
  if (is_of_network(error)) return explain_network(error);
  return {link::Cause::protocol_error, lower_first(error)};
}

/// libssh does not take a value of the settings.
[[noreturn]] void refuse_value(link::Failure failure) {
  failure.cause = link::Cause::configuration;
  throw link::HostError(std::move(failure));
}

/// A server has no reason to send requests (to open channels, for example), but libssh would keep them.
/// Returning 1 makes it refuse them.
int refuse_request(ssh_session, ssh_message, void*) { return 1; }

}  // namespace

std::string library_versions() {
  return fmt::format("libssh {}, {}", ssh_version(0), OpenSSL_version(OPENSSL_VERSION));
}

Transport::Transport(const asio::any_io_executor& executor, int descriptor, TunnelEnd tunnel_end)
    : waits_(std::make_shared<Waits>(executor)),
      session_(ssh_new()),
      event_(ssh_event_new()),
      tunnel_end_(std::move(tunnel_end)) {
  const std::error_code refused = adopt(waits_->descriptor, descriptor);
  if (!session_ || !event_) throw std::bad_alloc();
  if (refused)
    throw link::HostError({stage_, link::Cause::local_limit, refused.message(), link::Retry::may_help});
  bool no = false;
  ssh_options_set(session_.get(), SSH_OPTIONS_PROCESS_CONFIG, &no);
  // Both keep libssh from looking up the user's home with NSS. The login sends the real user name.
  set(SSH_OPTIONS_SSH_DIR, "/nonexistent");
  set(SSH_OPTIONS_USER, "x");
  set(SSH_OPTIONS_HOST, "127.0.0.1");        // only used to find configuration and host keys
  set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null");  // HostKeys judges the key
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  ssh_set_message_callback(session_.get(), refuse_request, nullptr);
  ssh_set_counters(session_.get(), &socket_counter_, &packet_counter_);
  ssh_set_blocking(session_.get(), 0);
}

Transport::~Transport() {
  expect_at_end(!is_lent_, "a Transport ends after take_back()");
  // asio must release the descriptor before libssh closes it, if libssh has not done so yet.
  if (waits_->descriptor.is_open() && given_) waits_->descriptor.release();
  std::error_code ignored;
  waits_->descriptor.close(ignored);
  if (given_) ssh_event_remove_session(event_.get(), session_.get());
}

void Transport::set(ssh_options_e option, const std::string& value) {
  if (ssh_options_set(session_.get(), option, value.c_str()) < 0) refuse_value(failure());
  opening_.note(option, value);
}

void Transport::set(ssh_options_e option, unsigned value) {
  if (ssh_options_set(session_.get(), option, &value) < 0) refuse_value(failure());
}

asio::awaitable<void> Transport::connect() {
  expect(!given_, "Transport::connect() is called once");
  const auto continue_connect = [this] {
    const bool is_first = !given_;
    if (is_first) give_descriptor();
    const int result = ssh_connect(session_.get());
    if (is_first) begin_polling();
    return result;
  };
  for (;;) {
    asio::posix::descriptor_base::bytes_readable readable;
    std::error_code ignored;
    waits_->descriptor.io_control(readable, ignored);
    if (readable.get() > 0)  // otherwise this would take an error that is meant for libssh
      opening_.peek(waits_->descriptor.native_handle(), bytes_received());
    const int result = call(continue_connect);
    if (result == SSH_OK) break;
    if (ssh_get_serverbanner(session_.get())) stage_ = link::Stage::key_exchange;
    if (result == SSH_ERROR) throw link::HostError(failure());
    check();
    co_await wait();
  }
  opening_ = {};
}

std::string Transport::said_before_version() const {
  return stage_ == link::Stage::ssh_banner ? opening_.line_before_version() : "";
}

void Transport::give_descriptor() {
  int descriptor = waits_->descriptor.native_handle();
  ssh_options_set(session_.get(), SSH_OPTIONS_FD, &descriptor);
  given_ = true;
  set_tcp_option(TCP_CORK, 1);
}

/// After the first ssh_connect(), which makes the descriptor blocking: sending to a peer that does not read
/// would hang. And only now the session has a poll context.
void Transport::begin_polling() {
  const int descriptor = ssh_get_fd(session_.get());
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ssh_event_add_session(event_.get(), session_.get());
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
  push();
  co_await waits->event.wait();
  if (stopped_) throw link::HostError(*stopped_);
}

void Transport::push() {
  const std::uint64_t written = socket_counter_.out_bytes;
  if (std::exchange(bytes_pushed_, written) == written) return;
  set_tcp_option(TCP_CORK, 0);
  set_tcp_option(TCP_CORK, 1);
}

void Transport::acknowledge_at_once() const { set_tcp_option(TCP_QUICKACK, 1); }

bool Transport::dead() const {
  // Not ssh_is_connected(), which stays true after a bad packet.
  return (ssh_get_status(session_.get()) & (SSH_CLOSED | SSH_CLOSED_ERROR)) != 0;
}

bool Transport::write_pending() const { return (ssh_get_status(session_.get()) & SSH_WRITE_PENDING) != 0; }

link::Failure Transport::failure() const {
  const std::string_view error = ssh_get_error(session_.get());
  const bool says_why = error.starts_with("Received SSH_MSG_DISCONNECT: ");
  const std::optional<link::Failure> end = tunnel_end_ && !says_why ? tunnel_end_() : std::nullopt;
  Explanation why = explain(error);
  const bool is_over = end ? end->cause == link::Cause::transport_ended
                           : why.cause == link::Cause::closed || why.cause == link::Cause::reset;
  if (std::optional<link::Failure> early = is_over && !says_why ? opening_.early_end(stage_) : std::nullopt) {
    if (end) early->detail += fmt::format(" (ProxyCommand: {})", end->detail);
    return *early;
  }
  if (end) return *end;
  return {stage_, why.cause, std::move(why.detail),
          may_pass(error) ? link::Retry::may_help : link::Retry::no};
}

void Transport::stop(link::Failure failure) {
  if (!stopped_) stopped_ = std::move(failure);
  wake();
}

void Transport::check() const {
  if (stopped_) throw link::HostError(*stopped_);
  if (dead()) throw link::HostError(failure());
  // libssh 0.11 drops what exceeds its window, and goes on.
  if (ssh_get_error(session_.get()) == std::string_view("Window exceeded"))
    throw link::HostError({stage_, link::Cause::flood});
  if (packets_sent() - packets_flushed_ > kMostUnread) {
    throw link::HostError({stage_, link::Cause::flood, "the server asks without end and reads no answer"});
  }
}

void Transport::lend() {
  expect(given_ && !is_lent_, "Transport::lend() comes after connect(), and is followed by take_back()");
  set_tcp_option(TCP_CORK, 0);  // libssh waits for answers meanwhile
  waits_->descriptor.release();
  is_lent_ = true;
}

void Transport::take_back() {
  expect(is_lent_, "Transport::take_back() comes after lend()");
  is_lent_ = false;
  const int descriptor = ssh_get_fd(session_.get());
  if (descriptor < 0) return;
  std::error_code refused;  // libssh keeps the descriptor
  waits_->descriptor.assign(descriptor, refused);
  if (refused)
    throw link::HostError({stage_, link::Cause::local_limit, refused.message(), link::Retry::may_help});
  set_tcp_option(TCP_CORK, 1);
}

/// Has no effect on a tunnel, which is not a TCP connection.
void Transport::set_tcp_option(int option, int value) const {
  ::setsockopt(waits_->descriptor.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
}

void Transport::look_after_call() {
  if (!write_pending()) packets_flushed_ = packets_sent();
  // At once, before another connection can get the same descriptor number.
  if (given_ && waits_->descriptor.is_open() && ssh_get_fd(session_.get()) < 0) waits_->descriptor.release();
}

}  // namespace podrun::ssh
