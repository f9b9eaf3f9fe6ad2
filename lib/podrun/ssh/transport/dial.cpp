// SPDX-License-Identifier: Apache-2.0
// Connects to the first address that answers, and tries several at a time (RFC 8305).
#include "podrun/ssh/transport/dial.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/event.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host.hpp"

namespace podrun::ssh {
namespace {

using asio::ip::tcp;

/// Why an address cannot be used.
struct Problem {
  int error;
  link::Cause cause;
  std::string what;
  link::Retry retry;
};

/// The system's text, in the same words as elsewhere.
std::string describe(int error) {
  if (error == ETIMEDOUT) return "timed out";
  return lower_first(std::generic_category().message(error));
}

/// EADDRNOTAVAIL and EADDRINUSE mean that all local ports are in use.
bool may_pass(int error) {
  constexpr std::array kErrors = {ECONNREFUSED, ECONNRESET,    ECONNABORTED, ETIMEDOUT,
                                  EHOSTUNREACH, EHOSTDOWN,     ENETUNREACH,  ENETDOWN,
                                  EAGAIN,       EADDRNOTAVAIL, EADDRINUSE};
  return is_exhaustion(error) || std::find(kErrors.begin(), kErrors.end(), error) != kErrors.end();
}

link::Cause cause_of(int error) {
  switch (error) {
    case ECONNREFUSED:
      return link::Cause::refused;
    case ECONNRESET:
    case ECONNABORTED:
      return link::Cause::reset;
    case ETIMEDOUT:
      return link::Cause::timed_out;
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ENETDOWN:
      return link::Cause::unreachable;
    default:
      return may_pass(error) ? link::Cause::local_limit : link::Cause::other;
  }
}

Problem connect_problem(int error, std::uint16_t port) {
  std::string what = describe(error);
  if (error == ECONNREFUSED && port != hosts::kSshPort) what += fmt::format(" at port {}", port);
  return {error, cause_of(error), what, may_pass(error) ? link::Retry::may_help : link::Retry::no};
}

Problem bind_problem(const std::string& bind_address, int error) {
  const bool may_help = is_exhaustion(error) || error == EADDRINUSE;
  return {error, may_help ? link::Cause::local_limit : link::Cause::no_usable_address,
          fmt::format("bind address \"{}\": {}", bind_address, describe(error)),
          may_help ? link::Retry::may_help : link::Retry::no};
}

/// Alternates the address families, beginning with that of the first address (RFC 8305, section 4).
std::vector<asio::ip::address> interleaved(const std::vector<asio::ip::address>& addresses) {
  std::array<std::vector<asio::ip::address>, 2> families;
  for (const asio::ip::address& address : addresses) {
    families[address.is_v4() == addresses.front().is_v4() ? 0 : 1].push_back(address);
  }
  std::vector<asio::ip::address> result;
  for (std::size_t turn = 0; result.size() < addresses.size(); ++turn) {
    for (const auto& family : families) {
      if (turn < family.size()) result.push_back(family[turn]);
    }
  }
  return result;
}

/// If no program listens on a port of this machine, both ends may get that port (TCP's simultaneous open).
bool is_connected_to_itself(const tcp::socket& socket) {
  std::error_code ignored;
  return socket.local_endpoint(ignored) == socket.remote_endpoint(ignored);
}

/// Options for a connection that is used for long and must not hang forever.
void set_options(tcp::socket& socket) {
  constexpr std::array<std::array<int, 3>, 6> kOptions = {{
      {IPPROTO_TCP, TCP_NODELAY, 1},
      {SOL_SOCKET, SO_KEEPALIVE, 1},
      {IPPROTO_TCP, TCP_KEEPIDLE, 15},          // s
      {IPPROTO_TCP, TCP_KEEPINTVL, 5},          // s
      {IPPROTO_TCP, TCP_KEEPCNT, 3},            // probes
      {IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000},  // ms
  }};
  for (const auto& [level, name, value] : kOptions) {
    ::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
  }
}

}  // namespace

/// Shared by its Dial, by connect(), which may have to outlive the Dial, and by each pending operation.
class Dial::State : public std::enable_shared_from_this<State> {
 public:
  State(const asio::any_io_executor& executor, const std::vector<asio::ip::address>& addresses,
        std::uint16_t port, const std::string& bind_address, std::chrono::milliseconds delay)
      : executor_(executor), bind_address_(bind_address), delay_(delay), timer_(executor), woken_(executor) {
    choose(addresses, port);
  }

  static asio::awaitable<tcp::socket> connect(std::shared_ptr<State> self) {
    if (!self->settled_) self->begin();
    while (!self->settled_) co_await self->woken_.wait();
    if (self->failure_) throw link::HostError(*self->failure_);
    co_return std::move(*self->winner_);
  }

  void stop(link::Failure failure) {
    if (!failure_) failure_ = std::move(failure);
    settle();
  }

 private:
  struct Attempt {
    tcp::endpoint endpoint;
    std::optional<tcp::socket> socket = std::nullopt;  ///< set while it is pending
    std::optional<Problem> problem = std::nullopt;     ///< set once it has failed
  };

  /// Chooses the addresses to try and their order.
  void choose(const std::vector<asio::ip::address>& addresses, std::uint16_t port) {
    std::error_code no_address;
    if (!bind_address_.empty()) bind_to_ = asio::ip::make_address(bind_address_, no_address);
    if (no_address)
      return give_up_without_address(fmt::format("bind address \"{}\" is no IP address", bind_address_));
    if (addresses.empty()) return give_up_without_address("");
    for (const asio::ip::address& address : interleaved(addresses)) {
      if (bind_to_ && bind_to_->is_v4() != address.is_v4()) continue;
      attempts_.push_back({.endpoint = tcp::endpoint(address, port)});
    }
    if (attempts_.empty()) {
      give_up_without_address(fmt::format("bind address \"{}\" is of no use (the host has only {} addresses)",
                                          bind_address_, bind_to_->is_v4() ? "IPv6" : "IPv4"));
    }
  }

  /// Begins the next attempt, and the wait for the one after it.
  void begin() {
    while (next_ < attempts_.size()) {
      Attempt& attempt = attempts_[next_];
      attempt.problem = open(attempt);
      if (!attempt.problem) {
        ++next_;
        connect(attempt);
        break;
      }
      attempt.socket.reset();
      if (pending_ > 0 && is_exhaustion(attempt.problem->error))
        break;  // try later, when more descriptors may be free
      ++next_;
    }
    if (next_ < attempts_.size()) {
      timer_.expires_after(delay_);
      timer_.async_wait([self = shared_from_this()](const std::error_code& cancelled) {
        if (!cancelled && !self->settled_) self->begin();
      });
    } else if (pending_ == 0) {
      give_up();
    }
  }

  std::optional<Problem> open(Attempt& attempt) {
    std::error_code error;
    tcp::socket& socket = attempt.socket.emplace(executor_);
    socket.open(attempt.endpoint.protocol(), error);
    if (error) return connect_problem(error.value(), attempt.endpoint.port());
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    if (bind_to_) socket.bind(tcp::endpoint(*bind_to_, 0), error);
    if (error) return bind_problem(bind_address_, error.value());
    return std::nullopt;
  }

  void connect(Attempt& attempt) {
    ++pending_;
    attempt.socket->async_connect(attempt.endpoint,
                                  [self = shared_from_this(), &attempt](const std::error_code& error) {
                                    if (!self->settled_) self->finish(attempt, error.value());
                                  });
  }

  void finish(Attempt& attempt, int error) {
    --pending_;
    if (error == 0 && is_connected_to_itself(*attempt.socket)) error = ECONNREFUSED;
    if (error == 0) {
      set_options(*attempt.socket);
      winner_ = std::move(attempt.socket);
      settle();
    } else {
      attempt.problem = connect_problem(error, attempt.endpoint.port());
      attempt.socket.reset();
      begin();
    }
  }

  /// Reports that all attempts have failed.
  void give_up() {
    const Problem& first = *attempts_.front().problem;
    std::string each;
    bool same = true;
    link::Retry retry = link::Retry::no;
    for (const Attempt& attempt : attempts_) {
      const std::string address = attempt.endpoint.address().to_string();
      each += fmt::format("{}{}: {}", each.empty() ? "" : ", ", address, attempt.problem->what);
      same = same && attempt.problem->what == first.what;
      if (attempt.problem->retry == link::Retry::may_help) retry = link::Retry::may_help;
    }
    if (!same) return stop({link::Stage::connecting, link::Cause::unreachable, each, retry});
    const bool says_all = first.what == describe(first.error) &&
                          (first.cause == link::Cause::refused || first.cause == link::Cause::timed_out);
    stop({link::Stage::connecting, first.cause, says_all ? "" : first.what, retry});
  }
  void give_up_without_address(std::string detail) {
    stop({link::Stage::connecting, link::Cause::no_usable_address, std::move(detail)});
  }

  /// Closes what is not needed and lets connect() return.
  void settle() {
    settled_ = true;
    if (failure_) winner_.reset();
    for (Attempt& attempt : attempts_) attempt.socket.reset();
    timer_.cancel();
    woken_.notify();
  }

  const asio::any_io_executor executor_;
  const std::string bind_address_;
  std::optional<asio::ip::address> bind_to_;
  const std::chrono::milliseconds delay_;
  asio::steady_timer timer_;
  Event woken_;
  std::vector<Attempt> attempts_;  ///< fixed size: callbacks refer to them
  std::size_t next_ = 0;
  std::size_t pending_ = 0;
  bool settled_ = false;
  std::optional<tcp::socket> winner_;
  std::optional<link::Failure> failure_;
};

Dial::Dial(const asio::any_io_executor& executor, const std::vector<asio::ip::address>& addresses,
           std::uint16_t port, const std::string& bind_address, std::chrono::milliseconds delay)
    : state_(std::make_shared<State>(executor, addresses, port, bind_address, delay)) {}

Dial::~Dial() { stop({.cause = link::Cause::abandoned}); }

asio::awaitable<tcp::socket> Dial::connect() {
  connecting_.call("Dial::connect() is called once");
  return State::connect(state_);
}

void Dial::stop(link::Failure failure) { state_->stop(std::move(failure)); }

}  // namespace podrun::ssh
