// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/transport/tunnel.hpp"

#include <asio/buffer.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_connector.hpp"
#include "support/run_coroutine.hpp"

namespace podrun::ssh {
namespace {

using test::err;
using test::eventually;
using test::FakeStream;
using test::out;

link::Failure proxy_failure(std::string detail, link::Retry retry) {
  return {link::Stage::proxy_command, link::Cause::transport_ended, std::move(detail), retry};
}

/// A tunnel, and the socket that the session would have.
struct Opened {
  explicit Opened(asio::any_io_executor executor, std::string jump_host = {})
      : stream(std::make_shared<FakeStream>(executor)),
        tunnel(std::in_place, executor, stream, std::move(jump_host)),
        socket(executor, asio::local::stream_protocol(), tunnel->take_descriptor()) {}

  /// All that arrives until the end.
  asio::awaitable<std::string> read_all() {
    std::string text;
    std::error_code end;
    co_await asio::async_read(socket, asio::dynamic_buffer(text),
                              asio::redirect_error(asio::use_awaitable, end));
    co_return text;
  }

  std::shared_ptr<FakeStream> stream;
  std::optional<Tunnel> tunnel;
  asio::local::stream_protocol::socket socket;
};

TEST(Tunnel, PassesBytesOnBothWays) {
  test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Opened opened(executor);
    opened.stream->say(out("from there"));
    std::string text(10, ' ');
    co_await asio::async_read(opened.socket, asio::buffer(text), asio::use_awaitable);
    EXPECT_EQ(text, "from there");
    co_await asio::async_write(opened.socket, asio::buffer("to there", 8), asio::use_awaitable);
    EXPECT_TRUE(co_await eventually(executor, [&] { return opened.stream->written() == "to there"; }));
    opened.socket.close();
    EXPECT_TRUE(co_await eventually(executor, [&] { return opened.stream->input_ended(); }));
    opened.tunnel.reset();
  });
}

TEST(Tunnel, GivesAllThatCameBeforeTheEnd) {
  test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Opened opened(executor);
    for (int i = 0; i < 100; ++i) opened.stream->say(out(std::string(Chunk::kMaxSize, 'x')));
    opened.stream->say(link::Closed{});
    const std::string all = co_await opened.read_all();
    EXPECT_EQ(all.size(), 100 * Chunk::kMaxSize);
    EXPECT_EQ(opened.tunnel->end()(), std::nullopt) << "it just ended";
    opened.tunnel.reset();
  });
}

TEST(Tunnel, TellsWhyAProxyCommandFailed) {
  test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Opened opened(executor);
    opened.stream->say({err("starting\n" + std::string(1000, 'x')), err("\nERROR: 4003: no back"),
                        err("end\r\n"), link::Exited{1}, link::Closed{}});
    const auto end = opened.tunnel->end();
    EXPECT_EQ(co_await opened.read_all(), "");
    opened.tunnel.reset();
    EXPECT_EQ(end(), proxy_failure("exit 1: ERROR: 4003: no backend", link::Retry::may_help))
        << "also when the tunnel is gone";
  });
}

TEST(Tunnel, TellsOfAProxyCommandThatNeverSpokeOrCannotBeRun) {
  test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Opened silent(executor);
    silent.stream->say({err("no permission\n"), link::Exited{0}, link::Closed{}});
    EXPECT_EQ(co_await silent.read_all(), "");
    EXPECT_EQ(silent.tunnel->end()(), proxy_failure("exit 0: no permission", link::Retry::may_help));
    Opened missing(executor);
    missing.stream->say({err("sh: nc: not found\n"), link::Exited{127}, link::Closed{}});
    EXPECT_EQ(co_await missing.read_all(), "");
    EXPECT_EQ(missing.tunnel->end()(), proxy_failure("exit 127: sh: nc: not found", link::Retry::no));
    silent.tunnel.reset();
    missing.tunnel.reset();
  });
}

TEST(Tunnel, TellsWhyAJumpHostIsLost) {
  test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Opened opened(executor, "gate");
    opened.stream->say({out("x"), link::Failure{link::Stage::connection, link::Cause::closed}});
    EXPECT_EQ(co_await opened.read_all(), "x");
    const link::Failure expected{.stage = link::Stage::connection,
                                 .cause = link::Cause::closed,
                                 .retry = link::Retry::may_help,
                                 .jump_hosts = {"gate"}};
    EXPECT_EQ(opened.tunnel->end()(), expected);
    opened.tunnel.reset();
  });
}

TEST(Tunnel, AbandonsItsStream) {
  test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Opened opened(executor);
    opened.tunnel.reset();
    EXPECT_TRUE(opened.stream->stopped());
    EXPECT_EQ(co_await opened.read_all(), "");
  });
}

TEST(Tunnel, SlowsTheStreamDown) {
  test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Opened opened(executor);
    for (int i = 0; i < 100; ++i) opened.stream->say(out(std::string(Chunk::kMaxSize, 'x')));
    std::size_t before = 0;
    EXPECT_TRUE(co_await eventually(
        executor, [&] { return std::exchange(before, opened.stream->unread()) == before; }));
    EXPECT_GT(opened.stream->unread(), 50U) << "a socket holds some 200 KiB";
    opened.tunnel.reset();
  });
}

}  // namespace
}  // namespace podrun::ssh
