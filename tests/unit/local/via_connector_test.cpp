// SPDX-License-Identifier: Apache-2.0
// A transport that starts a shell here and, where a file "paused" is there, hangs instead.
#include <csignal>
#include <filesystem>

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "podrun/local/connectors.hpp"

#include "support/run_coroutine.hpp"
#include "support/stream_reader.hpp"
#include "support/temp_directory.hpp"

namespace podrun::local {
namespace {

using std::chrono::milliseconds;
using test::run_coroutine;
using Reader = test::StreamReader<link::Stream>;

TEST(Silence, AsksOnceAnIntervalAndThenGivesUp) {
  using Verdict = Silence::Verdict;
  Silence silence(3);
  EXPECT_EQ(silence.look(true), Verdict::heard);  // the first interval has only begun
  for (int question = 0; question < 3; ++question) EXPECT_EQ(silence.look(true), Verdict::ask);
  EXPECT_EQ(silence.look(true), Verdict::lost);
}

TEST(Silence, IsBrokenByOutputAndByWhatWeDoNotRead) {
  using Verdict = Silence::Verdict;
  Silence silence(1);
  silence.look(true);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(silence.look(true), Verdict::ask);
    silence.hear();
    EXPECT_EQ(silence.look(true), Verdict::heard);
    EXPECT_EQ(silence.look(true), Verdict::ask);
    EXPECT_EQ(silence.look(false), Verdict::heard);
  }
}

TEST(Silence, AsksLessOftenWhileThereAreAnswers) {
  using Verdict = Silence::Verdict;
  Silence silence(1);
  silence.look(true);
  for (const int rest : {1, 3, 3, 3}) {
    EXPECT_EQ(silence.look(true), Verdict::ask);
    silence.answer();
    for (int interval = 0; interval < rest; ++interval) EXPECT_EQ(silence.look(true), Verdict::quiet);
  }
  EXPECT_EQ(silence.look(true), Verdict::ask);
  EXPECT_EQ(silence.look(true), Verdict::lost);
}

class Via : public testing::Test {
 protected:
  void SetUp() override { pipe_before_ = std::signal(SIGPIPE, SIG_IGN); }  // as main does
  void TearDown() override { (void)std::signal(SIGPIPE, pipe_before_); }

  /// Starts the shell text beside a transport that runs `second` before every shell but the first.
  asio::awaitable<std::shared_ptr<link::Stream>> start(asio::any_io_executor executor,
                                                       const std::string& text,
                                                       const std::string& second = "",
                                                       unsigned interval = 200) {
    directory_.write("way", "cd '" + directory_.path() + "'\nif [ -e started ]; then echo >>asked; " +
                                second +
                                "\nwhile [ -e paused ]; do sleep 0.01; done; fi\n>started\nexec \"$@\"\n");
    connector_ = make_via_connector(executor, ViaTemplate("sh " + directory_.path("way") + " {host}"),
                                    {.environment = {"PATH=/usr/bin:/bin"}}, transports_,
                                    {.interval = milliseconds(interval), .count_max = 4});
    link_ = connector_->link({.name = "env"});
    link::Program program{.script = Chunk(text), .arguments = {}};
    co_return co_await link_->exec(std::move(program));
  }
  static asio::awaitable<void> wait(asio::any_io_executor executor, milliseconds time) {
    asio::steady_timer timer(executor, time);
    co_await timer.async_wait(asio::use_awaitable);
  }
  std::uintmax_t questions() const {
    return directory_.has("asked") ? std::filesystem::file_size(directory_.path("asked")) : 0;
  }

  void (*pipe_before_)(int) = SIG_DFL;
  test::TempDirectory directory_;
  TransportCommands transports_;
  std::unique_ptr<link::Connector> connector_;
  std::unique_ptr<link::Link> link_;
};

TEST_F(Via, NoticesAHostThatIsSilentForGood) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = co_await start(executor, "echo out; sleep 1.5; >paused; exec sleep 1000");
    Reader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "connection: no answer for 1 s");
    EXPECT_EQ(reader.out(), "out\n");
  });
}

TEST_F(Via, KeepsAHostThatAnswers) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = co_await start(executor, "echo out; sleep 2.4; exit 3");
    Reader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "exit 3, closed");
    EXPECT_GE(questions(), 2U);
    EXPECT_LE(questions(), 6U) << "of 12 intervals";
  });
}

TEST_F(Via, KeepsAHostWhoseTransportNeverStartsTwice) {
  for (const char* second : {"exit 1", "exec sleep 1000", "echo; cat; exec sleep 1000"}) {
    run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
      std::filesystem::remove(directory_.path("started"));
      const auto stream = co_await start(executor, "echo out; sleep 1.5; exit 3", second);
      Reader reader(*stream);
      co_await reader.to_end();
      EXPECT_EQ(reader.end(), "exit 3, closed") << second;
    });
  }
}

TEST_F(Via, AsksNothingWhileTheHostPrintsOrIsNotRead) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = co_await start(executor,
                                       "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.1; done; "
                                       "echo end; exec sleep 1000");
    Reader reader(*stream);
    co_await reader.until("end\n");
    directory_.write("paused", "");
    co_await wait(executor, milliseconds(1000));
    EXPECT_LE(questions(), 1U) << "which tells whether it can be asked";
    stream->stop({.cause = link::Cause::cancelled});
  });
}

TEST_F(Via, AsksNothingWhereItIsNotWanted) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = co_await start(executor, "echo out; sleep 0.5; exit 3", "", 0);
    Reader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "exit 3, closed");
    EXPECT_EQ(questions(), 0U);
  });
}

}  // namespace
}  // namespace podrun::local
