// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/transport/dial.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/run_coroutine.hpp"

namespace podrun::ssh {
namespace {

using asio::ip::tcp;
using test::eventually;
using test::run_coroutine;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;

std::vector<asio::ip::address> addresses(const std::vector<const char*>& texts) {
  std::vector<asio::ip::address> result;
  for (const char* text : texts) result.push_back(asio::ip::make_address(text));
  return result;
}

/// Addresses of this process alone, where a number that is free at one is free at the others.
const char* own_address(unsigned number) {
  static std::array<std::string, 4> addresses;
  const auto pid = static_cast<unsigned>(::getpid());
  addresses.at(number) =
      fmt::format("127.{}.{}.{}", 64 + (pid >> 14) % 128, pid >> 6 & 255, (pid & 63) << 2 | number);
  return addresses[number].c_str();
}
const char* const kHostA = own_address(1);
const char* const kHostB = own_address(2);
const char* const kHostC = own_address(3);

/// A port of one address of this machine.
class Port {
 public:
  explicit Port(const char* address, std::uint16_t number = 0)
      : acceptor_(context_), endpoint_(asio::ip::make_address(address), number) {
    acceptor_.open(endpoint_.protocol());
    if (endpoint_.protocol() == tcp::v6()) acceptor_.set_option(asio::ip::v6_only(true));
    acceptor_.bind(endpoint_);
    endpoint_ = acceptor_.local_endpoint();
  }

  std::uint16_t number() const { return endpoint_.port(); }
  tcp::socket accept() { return acceptor_.accept(); }

 protected:
  asio::io_context context_;
  tcp::acceptor acceptor_;
  tcp::endpoint endpoint_;
};

/// Nobody else can listen there, and connections are refused.
using ClosedPort = Port;

class OpenPort : public Port {
 public:
  explicit OpenPort(const char* address, std::uint16_t number = 0) : Port(address, number) {
    acceptor_.listen();
  }
};

/// Its queue of connections is full, so that a further one gets no answer.
class SilentPort : public Port {
 public:
  explicit SilentPort(const char* address, std::uint16_t number = 0) : Port(address, number) {
    acceptor_.listen(0);
    do {
      tcp::socket& filler = fillers_.emplace_back(context_, endpoint_.protocol());
      filler.non_blocking(true);
      ::connect(filler.native_handle(), endpoint_.data(), static_cast<socklen_t>(endpoint_.size()));
      // A connection on loopback is there at once, or it is not for a second.
    } while (is_connected(fillers_.back()));
    fillers_.pop_back();  // it would ask again, and take the room that accept() makes
  }

 private:
  static bool is_connected(const tcp::socket& socket) {
    std::error_code error;
    socket.remote_endpoint(error);
    return !error;
  }

  std::vector<tcp::socket> fillers_;
};

bool has_ipv6() {
  try {
    return Port("::1").number() != 0;
  } catch (const std::system_error&) {
    return false;
  }
}

std::size_t open_sockets() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the one that reads the directory
    if (std::filesystem::read_symlink(entry, gone).string().starts_with("socket:")) ++count;
  }
  return count;
}

/// The socket is closed at once.
asio::awaitable<std::optional<link::Failure>> failure_of(Dial& dial) {
  try {
    co_await dial.connect();
  } catch (const link::HostError& error) {
    co_return error.failure();
  }
  co_return std::nullopt;
}

/// One Dial and what becomes of it.
class Call {
 public:
  Call(const asio::any_io_executor& executor, const std::vector<const char*>& to, std::uint16_t port,
       const std::string& bind_address = {}, std::chrono::milliseconds delay = 1h)
      : executor_(executor), sockets_before_(open_sockets()) {
    dial.emplace(executor, addresses(to), port, bind_address, delay);
    asio::co_spawn(executor, follow(*this), asio::detached);
  }

  asio::awaitable<bool> ended() {
    co_return co_await eventually(executor_, [this] { return socket || failure; });
  }
  /// Until what can be done at once has been done.
  asio::awaitable<void> begun() {
    for (int turn = 0; turn < 10; ++turn) co_await asio::post(executor_, asio::use_awaitable);
  }
  bool pending() const { return !socket && !failure; }
  std::string remote_address() const {
    return socket ? socket->remote_endpoint().address().to_string() : "not connected";
  }
  /// Those that have come since it began.
  std::size_t new_sockets() const { return open_sockets() - sockets_before_; }

  std::optional<Dial> dial;
  std::optional<tcp::socket> socket;
  std::optional<link::Failure> failure;

 private:
  static asio::awaitable<void> follow(Call& call) {
    try {
      call.socket = co_await call.dial->connect();
    } catch (const link::HostError& error) {
      call.failure = error.failure();
    }
  }

  asio::any_io_executor executor_;
  std::size_t sockets_before_;
};

link::Failure refused_at(std::uint16_t port) {
  return {link::Stage::connecting, link::Cause::refused, fmt::format("connection refused at port {}", port),
          link::Retry::may_help};
}
const link::Failure kStopped{.stage = link::Stage::key_exchange,
                             .cause = link::Cause::timed_out,
                             .retry = link::Retry::may_help,
                             .after = std::chrono::seconds(10)};

/// How it ends, with nothing left open but a connection.
link::Failure failure_of(const std::vector<const char*>& to, std::uint16_t port,
                         const std::string& bind = {}) {
  return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<link::Failure> {
    Call call(executor, to, port, bind);
    EXPECT_TRUE(co_await call.ended());
    EXPECT_EQ(call.new_sockets(), 0u);
    co_return call.failure.value_or(
        link::Failure{link::Stage::connecting, link::Cause::other, call.remote_address()});
  });
}

/// The address that it has connected to.
std::string connected_to(const std::vector<const char*>& to, std::uint16_t port,
                         std::chrono::milliseconds delay = 1h) {
  return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
    Call call(executor, to, port, "", delay);
    EXPECT_TRUE(co_await call.ended());
    EXPECT_EQ(call.new_sockets(), 1u) << "the connection itself";
    co_return call.remote_address();
  });
}

int option(tcp::socket& socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  ::getsockopt(socket.native_handle(), level, name, &value, &size);
  return value;
}

TEST(Dial, Connects) {
  OpenPort port(kHostA);
  EXPECT_EQ(connected_to({kHostA}, port.number()), kHostA);
}

TEST(Dial, ConnectsByIpv6) {
  if (!has_ipv6()) return;
  OpenPort port("::1");
  EXPECT_EQ(connected_to({"::1"}, port.number()), "::1");
}

TEST(Dial, PreparesTheConnectionForLongUse) {
  OpenPort port(kHostA);
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    Call call(executor, {kHostA}, port.number());
    EXPECT_TRUE(co_await call.ended());
    EXPECT_EQ(option(*call.socket, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option(*call.socket, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(*call.socket, IPPROTO_TCP, TCP_KEEPIDLE), 15);
    EXPECT_EQ(option(*call.socket, IPPROTO_TCP, TCP_KEEPINTVL), 5);
    EXPECT_EQ(option(*call.socket, IPPROTO_TCP, TCP_KEEPCNT), 3);
    EXPECT_EQ(option(*call.socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
    EXPECT_EQ(::fcntl(call.socket->native_handle(), F_GETFD), FD_CLOEXEC);
  });
}

TEST(Dial, SaysThatItWasRefused) {
  ClosedPort port(kHostA);
  EXPECT_EQ(failure_of({kHostA}, port.number()), refused_at(port.number()));
}

TEST(Dial, SaysOnceWhatAllAddressesSaid) {
  ClosedPort first(kHostA);
  ClosedPort second(kHostB, first.number());
  EXPECT_EQ(failure_of({kHostA, kHostB}, first.number()), refused_at(first.number()));
}

TEST(Dial, SaysWhatEachAddressSaid) {
  ClosedPort port(kHostA);
  const link::Failure expected{link::Stage::connecting, link::Cause::unreachable,
                               std::string(kHostA) + ": connection refused at port " +
                                   std::to_string(port.number()) +
                                   ", 127.255.255.255: network is unreachable",
                               link::Retry::may_help};
  EXPECT_EQ(failure_of({kHostA, "127.255.255.255"}, port.number()), expected) << "a broadcast address";
}

TEST(Dial, FailsWithoutAnAddress) {
  EXPECT_EQ(failure_of({}, 22), (link::Failure{link::Stage::connecting, link::Cause::no_usable_address}));
}

TEST(Dial, TriesTheNextAddressAtOnceWhenOneFails) {
  OpenPort port(kHostC);
  ClosedPort second(kHostB, port.number());
  ClosedPort first(kHostA, port.number());
  EXPECT_EQ(connected_to({kHostA, kHostB, kHostC}, port.number(), 1h), kHostC);
}

TEST(Dial, TriesTheNextAddressAsWellWhenOneHangs) {
  OpenPort port(kHostC);
  SilentPort second(kHostB, port.number());
  SilentPort first(kHostA, port.number());
  EXPECT_EQ(connected_to({kHostA, kHostB, kHostC}, port.number(), 1ms), kHostC);
}

TEST(Dial, StillTakesTheFirstAddressWhenTheNextFails) {
  SilentPort port(kHostA);
  ClosedPort second(kHostB, port.number());
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    Call call(executor, {kHostA, kHostB}, port.number(), "", 0ms);
    co_await call.begun();
    EXPECT_TRUE(co_await eventually(executor, [&] { return call.new_sockets() == 1; }));
    EXPECT_TRUE(call.pending());
    port.accept();  // makes room: the kernel asks once more after a second
    EXPECT_TRUE(co_await call.ended());
    EXPECT_EQ(call.remote_address(), kHostA);
  });
}

TEST(Dial, HasOneDescriptorForEachAttempt) {
  SilentPort first(kHostA);
  SilentPort second(kHostB, first.number());
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    Call call(executor, {kHostA, kHostB}, first.number(), "", 1h);
    co_await call.begun();
    EXPECT_EQ(call.new_sockets(), 1u) << "the other address is not due";
    EXPECT_TRUE(call.pending());
    call.dial->stop(kStopped);
    EXPECT_EQ(call.new_sockets(), 0u);
    EXPECT_TRUE(co_await call.ended());
  });
}

TEST(Dial, TakesTheFamiliesInTurns) {
  if (!has_ipv6()) return;
  OpenPort second("::1");
  OpenPort third(kHostB, second.number());
  ClosedPort first(kHostA, second.number());
  EXPECT_EQ(connected_to({kHostA, kHostB, "::1"}, first.number()), "::1");
  EXPECT_EQ(connected_to({kHostB, kHostA, "::1"}, first.number()), kHostB);
}

TEST(Dial, EndsAtOnceWhenItIsStopped) {
  SilentPort first(kHostA);
  SilentPort second(kHostB, first.number());
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    Call call(executor, {kHostA, kHostB}, first.number(), "", 0ms);
    EXPECT_TRUE(co_await eventually(executor, [&] { return call.new_sockets() == 2; }));
    call.dial->stop(kStopped);
    call.dial->stop({link::Stage::none, link::Cause::other, "too late"});
    EXPECT_TRUE(co_await call.ended());
    EXPECT_EQ(call.failure, kStopped);
    EXPECT_EQ(call.new_sockets(), 0u);
  });
}

TEST(Dial, CanBeStoppedBeforeItBegins) {
  OpenPort port(kHostA);
  const auto failure =
      run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::optional<link::Failure>> {
        Dial dial(executor, addresses({kHostA}), port.number());
        dial.stop(kStopped);
        co_return co_await failure_of(dial);
      });
  EXPECT_EQ(failure, kStopped);
}

TEST(Dial, LeavesAConnectionThatHasBeenHandedOver) {
  OpenPort port(kHostA);
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    Call call(executor, {kHostA}, port.number());
    EXPECT_TRUE(co_await call.ended());
    call.dial->stop(kStopped);
    call.dial.reset();
    EXPECT_EQ(call.remote_address(), kHostA);
    EXPECT_EQ(call.failure, std::nullopt);
  });
}

TEST(Dial, LeavesNothingWhenItIsDestroyed) {
  SilentPort port(kHostA);
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    Call call(executor, {kHostA}, port.number());
    co_await call.begun();
    EXPECT_EQ(call.new_sockets(), 1u);
    call.dial.reset();
    EXPECT_EQ(call.new_sockets(), 0u);
    EXPECT_TRUE(co_await call.ended()) << "whoever waits for it";
  });
}

TEST(Dial, CallsFromTheBindAddress) {
  OpenPort port(kHostA);
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    Call call(executor, {kHostA}, port.number(), "127.0.0.9");
    EXPECT_TRUE(co_await call.ended());
    EXPECT_EQ(port.accept().remote_endpoint().address().to_string(), "127.0.0.9");
  });
}

TEST(Dial, LeavesOutWhatTheBindAddressCannotReach) {
  ClosedPort port(kHostA);
  EXPECT_EQ(failure_of({"::1", kHostA}, port.number(), "127.0.0.9"), refused_at(port.number()));
}

TEST(Dial, SaysWhatIsWrongWithTheBindAddress) {
  const auto failed = [](std::string what) {
    return link::Failure{link::Stage::connecting, link::Cause::no_usable_address, std::move(what)};
  };
  EXPECT_EQ(failure_of({kHostA, kHostB}, 22, "192.0.2.1"),
            failed("bind address \"192.0.2.1\": cannot assign requested address"));
  EXPECT_EQ(failure_of({kHostA}, 22, "eth0"), failed("bind address \"eth0\" is no IP address"));
  EXPECT_EQ(failure_of({kHostA}, 22, "::1"),
            failed("bind address \"::1\" is of no use (the host has only IPv4 addresses)"));
  EXPECT_EQ(failure_of({"::1"}, 22, "127.0.0.9"),
            failed("bind address \"127.0.0.9\" is of no use (the host has only IPv6 addresses)"));
}

/// While it exists there are no descriptors but those that are open already, and `more`.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    std::vector<int> free;
    for (int i = 0; i <= more; ++i) free.push_back(::dup(STDERR_FILENO));
    for (const int descriptor : free) ::close(descriptor);
    const rlimit limit{static_cast<rlim_t>(free.back()), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Dial, SaysThatThereIsNoDescriptor) {
  const auto failure =
      run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::optional<link::Failure>> {
        Dial dial(executor, addresses({kHostA, kHostB}), 22);
        const DescriptorLimit none(0);
        co_return co_await failure_of(dial);
      });
  EXPECT_EQ(failure, (link::Failure{link::Stage::connecting, link::Cause::local_limit, "too many open files",
                                    link::Retry::may_help}));
}

TEST(Dial, WaitsForADescriptorWhileAnotherAddressIsTried) {
  OpenPort port(kHostB);
  SilentPort first(kHostA, port.number());
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    asio::steady_timer timer(executor);
    std::optional<DescriptorLimit> limit(1);
    Call call(executor, {kHostA, kHostB}, port.number(), "", 1ms);
    timer.expires_after(20ms);  // in which it tries
    co_await timer.async_wait(asio::use_awaitable);
    EXPECT_TRUE(call.pending());
    limit.reset();
    EXPECT_TRUE(co_await call.ended());
    EXPECT_EQ(call.remote_address(), kHostB);
  });
}

/// An even number, as the kernel gives to connections first.
std::uint16_t unused_port() {
  for (std::uint16_t number = 40'000;; number = static_cast<std::uint16_t>(number + 2)) {
    try {
      return Port("127.0.0.1", number).number();
    } catch (const std::system_error&) {
      continue;
    }
  }
}

TEST(Dial, NeverConnectsToItself) {
  constexpr int kTries = 20'000;  // more than there are even ports for the kernel to choose from
  const std::uint16_t port = unused_port();
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto to = addresses({"127.0.0.1"});
    for (int i = 0; i < kTries; ++i) {
      Dial dial(executor, to, port);
      const auto failure = co_await failure_of(dial);
      EXPECT_EQ(failure, refused_at(port)) << "try " << i;
      if (failure != refused_at(port)) break;
    }
  });
}

}  // namespace
}  // namespace podrun::ssh
