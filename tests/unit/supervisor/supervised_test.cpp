// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/supervised.hpp"

#include <set>

#include <asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"

#include "support/fake_connector.hpp"
#include "support/run_coroutine.hpp"
#include "support/shell_link.hpp"
#include "support/stream_reader.hpp"

namespace podrun::supervisor {
namespace {

using test::run_coroutine;
using test::TestHost;
using Reader = test::StreamReader<Supervised>;

class SupervisedTest : public testing::Test {
 protected:
  /// Runs `before` on the host ahead of the supervisor; returns the noise and the reason why the start fails.
  std::string failure_of(const std::string& before, const std::vector<RemoteFile>& files = {}) {
    return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
      const auto link = host_.link(executor);
      link->before = before;
      Supervised supervised(executor, *link, host_.supervision());
      try {
        co_await supervised.prepare(files, [&](link::Received noise) -> asio::awaitable<void> {
          (noise.stream == StreamId::out ? noise_ : noise_err_) += noise.bytes.bytes();
          co_return;
        });
      } catch (const link::HostError& error) {
        co_return report::describe(error.failure());
      }
      supervised.go("", Chunk(std::string("set -- /bin/echo out")));
      Reader reader(supervised);
      co_await reader.to_end();
      noise_err_ += reader.err();  // may come before or after the hello
      co_return reader.out() + reader.end();
    });
  }

  TestHost host_{test::shells().front()};
  std::string noise_;
  std::string noise_err_;
};

TEST_F(SupervisedTest, TakesWhatIsSaidBeforeTheHelloAsNoise) {
  EXPECT_EQ(failure_of("echo Welcome; echo warning >&2; printf 'podrun1 \\n\\npodrun1 x'; "),
            "out\nexit 0, closed");
  EXPECT_EQ(noise_, "Welcome\npodrun1 \n\npodrun1 x");
  EXPECT_EQ(noise_err_, "warning\n");
}

TEST_F(SupervisedTest, TellsWhyNothingStarted) {
  EXPECT_EQ(failure_of("echo This account is not available.; exit 1; "),
            "starting /bin/sh: This account is not available. (exit 1)");
  EXPECT_EQ(failure_of("echo a >&2; echo b >&2; exit 127; "), "starting /bin/sh: b (exit 127)");
  EXPECT_EQ(failure_of("kill -9 $$; "),
            "starting /bin/sh: it ended before the command could start (signal 9)");
  EXPECT_EQ(failure_of("exit 0; "), "starting /bin/sh: it ended before the command could start (exit 0)");
  EXPECT_EQ(failure_of("echo 'you typed: { podrun_text=; podrun_options=; case'; exit 125; "),
            "starting /bin/sh: it ended before the command could start (exit 125)")
      << "a start-up file that shows what it has read";
}

TEST_F(SupervisedTest, GivesNoiseWithoutAHelloBackWhole) {
  failure_of("printf 'x\\npodrun1 '; exit 1; ");
  EXPECT_EQ(noise_, "x\npodrun1 ");
}

TEST_F(SupervisedTest, TellsWhyAFileCannotBePut) {
  EXPECT_THAT(failure_of("", {{"no/such", "content"}}),
              testing::MatchesRegex("sending no/such: .*/no/such: No such file or directory \\(exit 1\\)"));
}

TEST_F(SupervisedTest, IsStoppedWithAFailure) {
  const std::string end = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
    const auto link = host_.link(executor);
    Supervised supervised(executor, *link, host_.supervision());
    co_await supervised.prepare({}, test::drop);
    supervised.go("", Chunk(std::string("set -- sh -c 'echo ready; exec sleep 1000'")));
    Reader reader(supervised);
    co_await reader.until("ready\n");
    asio::post(executor, [&] { supervised.stop({link::Stage::running, link::Cause::other, "too long"}); });
    co_await reader.to_end();
    co_return reader.end();
  });
  EXPECT_EQ(end, "running: too long");
  EXPECT_TRUE(test::eventually([&] { return host_.processes().empty(); }));
}

TEST(RandomId, IsOf128BitsInHex) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(random_id());
  EXPECT_EQ(ids.size(), 100U);
  for (const std::string& id : ids) {
    EXPECT_EQ(id.size(), 32U);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
}

/// The end of a command whose transport has exit statuses of its own.
std::string end_of(const std::string& before, const std::string& go) {
  TestHost host(test::shells().front());
  return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
    const auto link = host.link(executor);
    link->has_statuses_of_its_own = true;
    link->before = before;
    Supervised supervised(executor, *link, host.supervision());
    co_await supervised.prepare({}, test::drop);
    supervised.go(go, {});
    Reader reader(supervised);
    co_await reader.to_end();
    co_return reader.out() + reader.end();
  });
}

TEST_F(SupervisedTest, TakesTheStatusOfTheCommandAndNotOfTheTransport) {
  EXPECT_EQ(end_of("trap 'exit 9' EXIT; ", "set -- /bin/sh -c 'echo out; exit 3'"), "out\nexit 3, closed");
  EXPECT_EQ(end_of("trap 'exit 9' EXIT; ", "set -- /bin/sh -c 'printf \"~podrun1 \"'"),
            "~podrun1 exit 0, closed");
}

TEST(Supervised, TakesTheStatusOfTheTransportWhereTheCommandsIsMissing) {
  const auto end_with = [](const test::StreamEvents& events) {
    test::FakeHost host;
    host.answers = {{"go", events}};
    host.mixes_statuses = true;
    return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
      test::FakeLink link(executor, host);
      Supervised supervised(executor, link, {.mark = "m"});
      co_await supervised.prepare({}, test::drop);
      supervised.go("set -- true", {});
      Reader reader(supervised);
      co_await reader.to_end();
      co_return reader.out() + reader.end();
    });
  };
  EXPECT_EQ(end_with({test::out("out~"), link::Exited{9}, link::Closed{}}), "out~exit 9, closed");
  EXPECT_EQ(end_with({test::out("out~"), link::Exited{0}, link::Closed{}}),
            "out~the connection ended without an exit status");
  EXPECT_EQ(
      end_with({test::out("out~"), link::Failure{link::Stage::connection, link::Cause::reset, "reset"}}),
      "out~connection: reset");
}

}  // namespace
}  // namespace podrun::supervisor
