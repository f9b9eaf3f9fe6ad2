// SPDX-License-Identifier: Apache-2.0
// How a session holds a host back whose output nobody takes, with a real sshd.
#include "podrun/ssh/transport/ssh_session.hpp"

#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/ssh/auth/key_file.hpp"

#include "support/run_coroutine.hpp"
#include "support/ssh_keygen.hpp"
#include "support/ssh_server.hpp"
#include "support/stream_reader.hpp"

namespace podrun::ssh {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::StreamReader;

constexpr std::size_t kMuch = 20'000'000;
constexpr std::size_t kWindow = 1'280'000;         // of libssh: what the host may send while nobody reads
constexpr std::size_t kMostWhilePaused = 400'000;  // what is kept of a host at the most, and then some
constexpr ReadingPause kPatient{.sign_of_life = 5ms, .longest = 1h};

std::string print(std::size_t bytes) { return "head -c " + std::to_string(bytes) + " /dev/zero"; }

/// A session, and its transport for as long as that runs.
struct Opened {
  std::shared_ptr<SshSession> session;
  Transport* transport = nullptr;

  Opened(std::shared_ptr<SshSession> opened, Transport* its) : session(std::move(opened)), transport(its) {}
  Opened(Opened&&) = default;
  Opened& operator=(Opened&&) = delete;
  ~Opened() {
    if (session) session->stop({link::Stage::none, link::Cause::other, "end of the test"});
  }
};

class SessionWithSshd : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    pipe_before_ = std::signal(SIGPIPE, SIG_IGN);  // as main does
    user_ = ::getpwuid(::getuid())->pw_name;       // here, because only one thread may ask
    server_ = std::make_unique<test::SshServer>();
    make_key(server_->directory(), "key", {"ed25519"});
    server_->authorize(server_->directory().read("key.pub"));
  }
  static void TearDownTestSuite() {
    server_.reset();
    (void)std::signal(SIGPIPE, pipe_before_);
  }

  static const test::TempDirectory& directory() { return server_->directory(); }

  static asio::awaitable<Opened> log_in(asio::any_io_executor executor, ReadingPause reading_pause) {
    asio::ip::tcp::socket socket(executor);
    const asio::ip::tcp::endpoint endpoint(asio::ip::make_address("127.0.0.1"), server_->port());
    co_await socket.async_connect(endpoint, asio::use_awaitable);
    auto transport = std::make_unique<Transport>(executor, socket.release());
    co_await transport->connect();
    ssh_session libssh = transport->session();
    const auto request = [libssh] { return ssh_service_request(libssh, "ssh-userauth"); };
    co_await transport->finish(request, SSH_AGAIN);
    const KeyFile key = read_key_file(directory().path("key"));
    const auto offer = [&] { return ssh_userauth_publickey(libssh, user_.c_str(), key.key.get()); };
    EXPECT_EQ(co_await transport->finish(offer, SSH_AUTH_AGAIN), SSH_AUTH_SUCCESS);
    Transport* its = transport.get();
    Opened opened(std::make_shared<SshSession>(executor, std::move(transport), KeepAlive(), reading_pause),
                  its);
    opened.session->start();
    co_return opened;
  }

  /// Until the server has heard from us often, though we had nothing to say.
  static asio::awaitable<bool> reading_paused(asio::any_io_executor executor, Transport* transport) {
    constexpr int kOften = 20;
    const std::uint64_t before = transport->packets_sent();
    co_return co_await eventually(executor, [=] { return transport->packets_sent() > before + kOften; });
  }

  /// Bytes that have arrived, but were not read from the socket.
  static int unread(Transport* transport) {
    int bytes = 0;
    EXPECT_EQ(::ioctl(ssh_get_fd(transport->session()), FIONREAD, &bytes), 0);
    return bytes;
  }

  /// sh text that waits until there is this file.
  static std::string until_told(const std::string& name) {
    return "until test -e '" + directory().path(name) + "'; do sleep 0.01; done; ";
  }

  static void run(const std::function<asio::awaitable<void>(asio::any_io_executor)>& body) {
    test::run_coroutine([&](asio::any_io_executor executor) { return body(executor); });
  }

  static inline std::unique_ptr<test::SshServer> server_;

 private:
  static inline void (*pipe_before_)(int) = SIG_DFL;
  static inline std::string user_;
};

TEST_F(SessionWithSshd, PausesAHostAndLosesNothing) {
  run([](asio::any_io_executor executor) -> asio::awaitable<void> {
    const Opened opened = co_await log_in(executor, kPatient);
    const std::shared_ptr<link::Stream> stream = co_await opened.session->exec(print(kMuch));
    EXPECT_TRUE(co_await reading_paused(executor, opened.transport));
    EXPECT_LT(opened.transport->bytes_received(), kMostWhilePaused);
    StreamReader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.out().size(), kMuch);
    EXPECT_EQ(reader.end(), "exit 0, closed");
  });
}

TEST_F(SessionWithSshd, ReadsOnSeveralThreadsAtOnce) {
  const auto expect_own_bytes = [](char byte) {
    run([byte](asio::any_io_executor executor) -> asio::awaitable<void> {
      const Opened opened = co_await log_in(executor, kPatient);
      const std::string command = print(kMuch) + " | tr '\\0' " + byte;
      const std::shared_ptr<link::Stream> stream = co_await opened.session->exec(command);
      EXPECT_TRUE(co_await reading_paused(executor, opened.transport));
      StreamReader reader(*stream);
      co_await reader.to_end();
      EXPECT_EQ(reader.out().size(), kMuch);
      EXPECT_EQ(reader.out().find_first_not_of(byte), std::string::npos);
    });
  };
  std::thread other([&] { expect_own_bytes('a'); });
  expect_own_bytes('b');
  other.join();
}

TEST_F(SessionWithSshd, ReadsOnWhereAnotherCommandWaits) {
  run([](asio::any_io_executor executor) -> asio::awaitable<void> {
    const Opened opened = co_await log_in(executor, kPatient);
    const std::shared_ptr<link::Stream> unread_stream = co_await opened.session->exec(print(kMuch));
    EXPECT_TRUE(co_await reading_paused(executor, opened.transport));
    const std::shared_ptr<link::Stream> other = co_await opened.session->exec("cat");
    StreamReader reader(*other);
    EXPECT_TRUE(co_await other->write(Chunk("hello\n")));
    co_await reader.until("hello\n");
    other->close_write();
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "exit 0, closed");
    EXPECT_LT(opened.transport->bytes_received(), 2 * kWindow);
  });
}

TEST_F(SessionWithSshd, WritesMoreThanAWindowToAPausedHost) {
  run([](asio::any_io_executor executor) -> asio::awaitable<void> {
    constexpr std::size_t kInput =
        5'000'000;  // sshd takes 2 MiB, then its window message waits until its output is read
    const Opened opened = co_await log_in(executor, kPatient);
    const std::string command = print(kMuch) + " & wc -c >'" + directory().path("input") + "'; wait";
    const std::shared_ptr<link::Stream> stream = co_await opened.session->exec(command);
    EXPECT_TRUE(co_await reading_paused(executor, opened.transport));
    for (const Chunk& chunk : to_chunks(std::string(kInput, 'x'))) EXPECT_TRUE(co_await stream->write(chunk));
    stream->close_write();
    const auto counted = [] { return directory().read("input") == std::to_string(kInput) + "\n"; };
    EXPECT_TRUE(co_await eventually(executor, counted));
    StreamReader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.out().size(), kMuch);
  });
}

TEST_F(SessionWithSshd, ReadsWhatIsInFlightAfterTheLongestPause) {
  run([](asio::any_io_executor executor) -> asio::awaitable<void> {
    constexpr ReadingPause kImpatient{.sign_of_life = 5ms, .longest = 50ms};
    const Opened opened = co_await log_in(executor, kImpatient);
    const std::shared_ptr<link::Stream> stream = co_await opened.session->exec(print(kMuch));
    const auto window_is_used = [&] { return opened.transport->bytes_received() > kWindow; };
    EXPECT_TRUE(co_await eventually(executor, window_is_used));
    StreamReader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.out().size(), kMuch);
    EXPECT_EQ(reader.end(), "exit 0, closed");
  });
}

TEST_F(SessionWithSshd, ReadsWhatComesWhenAllHasOnceBeenRead) {
  run([](asio::any_io_executor executor) -> asio::awaitable<void> {
    constexpr ReadingPause kImpatient{.sign_of_life = 5ms, .longest = 0ms};
    constexpr std::size_t kFirst = 300'000;  // more than is kept
    const Opened opened = co_await log_in(executor, kImpatient);
    const std::shared_ptr<link::Stream> stream =
        co_await opened.session->exec(print(kFirst) + "; " + until_told("go-on") + print(kMuch));
    const auto first_is_here = [&] { return opened.transport->bytes_received() > kFirst; };
    EXPECT_TRUE(co_await eventually(executor, first_is_here));
    EXPECT_TRUE(co_await reading_paused(executor, opened.transport));
    directory().write("go-on", "");
    const auto window_is_used = [&] { return opened.transport->bytes_received() > kWindow; };
    EXPECT_TRUE(co_await eventually(executor, window_is_used));
    StreamReader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.out().size(), kFirst + kMuch);
  });
}

// libssh reads from the socket when it is asked for more than it has kept of one stream. It offers the other
// stream first then, which takes all the room, and after that gives what has come of the one asked for.
TEST_F(SessionWithSshd, KeepsWhatAReadTakesInAfterTheRoomIsGone) {
  run([](asio::any_io_executor executor) -> asio::awaitable<void> {
    constexpr std::size_t kOut = 170'000;  // a little more than the channel keeps
    constexpr std::size_t kErr = 400'000;  // all that the channel keeps, and more
    constexpr ReadingPause kSilent{.sign_of_life = 1h, .longest = {}};
    const Opened opened = co_await log_in(executor, kSilent);
    Transport* transport = opened.transport;

    // While another command's output is waited for, all of this is read, and libssh keeps what is too much.
    const std::shared_ptr<link::Stream> other = co_await opened.session->exec("cat");
    StreamReader other_reader(*other);
    asio::co_spawn(executor, other_reader.until("read no more\n"), asio::detached);
    const std::string command = print(kOut) + "; " + until_told("err") + print(kErr) + " >&2; " +
                                until_told("last-err") + "printf e >&2; " + until_told("last-out") +
                                "printf o";
    const std::shared_ptr<link::Stream> stream = co_await opened.session->exec(command);
    const auto out_is_here = [&] { return transport->bytes_received() > kOut; };
    EXPECT_TRUE(co_await eventually(executor, out_is_here));
    directory().write("err", "");
    const auto all_is_here = [&] { return transport->bytes_received() > kOut + kErr; };
    EXPECT_TRUE(co_await eventually(executor, all_is_here));
    EXPECT_TRUE(co_await other->write(Chunk("read no more\n")));
    EXPECT_TRUE(co_await eventually(executor, [&] { return !other_reader.out().empty(); }));

    // Now nothing is read from the socket, until the stream is.
    EXPECT_EQ(unread(transport), 0);
    directory().write("last-err", "");
    EXPECT_TRUE(co_await eventually(executor, [&] { return unread(transport) > 0; }));
    const int with_err = unread(transport);
    directory().write("last-out", "");
    EXPECT_TRUE(co_await eventually(executor, [&] { return unread(transport) > with_err; }));
    StreamReader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.out().size(), kOut + 1);
    EXPECT_EQ(reader.err().size(), kErr + 1);
    EXPECT_EQ(reader.end(), "exit 0, closed");
  });
}

TEST_F(SessionWithSshd, OutputThatIsLostWithTheConnectionIsNoEnd) {
  run([](asio::any_io_executor executor) -> asio::awaitable<void> {
    constexpr ReadingPause kImpatient{.sign_of_life = 5ms, .longest = 0ms};
    constexpr std::size_t kFitsIntoWindow = 1'000'000;
    const Opened opened = co_await log_in(executor, kImpatient);
    const std::shared_ptr<link::Stream> stream = co_await opened.session->exec(print(kFitsIntoWindow));
    const auto all_is_here = [&] { return opened.transport->bytes_received() > kFitsIntoWindow; };
    EXPECT_TRUE(co_await eventually(executor, all_is_here));
    opened.session->stop({link::Stage::connection, link::Cause::other, "gone"});
    co_await asio::post(executor, asio::use_awaitable);  // the session does it
    StreamReader reader(*stream);
    co_await reader.to_end();
    EXPECT_LT(reader.out().size(), kFitsIntoWindow);
    EXPECT_EQ(reader.end(), "connection: gone");
  });
}

// The version of a server, as libssh stores it.
constexpr int kOpenSsh90 = SSH_VERSION_INT(9, 0, 0);
constexpr int kOpenSsh91 = SSH_VERSION_INT(9, 1, 0);
constexpr int kNoOpenSsh = 0;

TEST(ReadingPauseFor, HasNoLimitWhereAServerForwardsHeartbeatsMeanwhile) {
  EXPECT_EQ(reading_pause_for(kOpenSsh91, 2min).longest, std::nullopt);
  EXPECT_EQ(reading_pause_for(kOpenSsh91, 1s).longest, std::nullopt);
}

TEST(ReadingPauseFor, EndsWellBeforeTheOrphanTimeoutElsewhere) {
  for (const int version : {kOpenSsh90, kNoOpenSsh}) {
    EXPECT_EQ(reading_pause_for(version, 2min).longest, 1min);
    for (const std::chrono::milliseconds orphan_timeout : {1s, 2s, 5s, 30s, 120s, 3600s}) {
      const ReadingPause reading_pause = reading_pause_for(version, orphan_timeout);
      EXPECT_GT(reading_pause.sign_of_life, 100ms);
      // When the longest time is over is only seen with the next sign of life.
      EXPECT_LT(*reading_pause.longest + reading_pause.sign_of_life, orphan_timeout * 2 / 3)
          << orphan_timeout.count();
    }
  }
}

}  // namespace
}  // namespace podrun::ssh
