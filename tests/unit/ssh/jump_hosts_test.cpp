// SPDX-License-Identifier: Apache-2.0
// Jump hosts, with a real sshd that stands for all of them and for the hosts beyond.
#include "podrun/ssh/jump_hosts.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/link/failure.hpp"
#include "podrun/report/outcome_words.hpp"

#include "support/run_coroutine.hpp"
#include "support/stream_reader.hpp"
#include "unit/ssh/ssh_world_fixture.hpp"

namespace podrun::ssh {
namespace {

using test::eventually;
using testing::Each;
using testing::SizeIs;

constexpr const char* kThrough = "through";

class JumpHostsTest : public SshWorldTest {
 protected:
  /// Has a host reach the server by this route; then `results_` has kThrough or the failure.
  void start(std::shared_ptr<Jump> jump) {
    asio::co_spawn(executor(), reach(std::move(jump)), asio::detached);
  }
  std::shared_ptr<Jump> start(const std::string& route) {
    auto jump = std::make_shared<Jump>(jump_hosts_, route);
    start(jump);
    return jump;
  }
  asio::awaitable<void> wait_for_results(std::size_t count) {
    EXPECT_TRUE(co_await eventually(executor(), [&] { return results_.size() >= count; }));
    EXPECT_THAT(results_, SizeIs(count));
  }

  /// A jump host that cannot be reached, until it is mended.
  void break_gate() {
    server_.directory().write("broken", "");
    gate_.proxy_command = fmt::format("[ ! -e {} ] || {{ echo gone >&2; exit 1; }}; {}",
                                      server_.directory().path("broken"), gate_.proxy_command);
  }
  void mend_gate() { ASSERT_EQ(::unlink(server_.directory().path("broken").c_str()), 0); }

  std::vector<std::string> results_;
  SshSettings gate_ = settings_;

 private:
  asio::awaitable<void> reach(std::shared_ptr<Jump> jump) {
    std::string result = kThrough;
    try {
      const std::shared_ptr<link::Stream> stream = co_await jump->forward("127.0.0.1", server_.port());
      test::StreamReader reader(*stream);
      co_await reader.until("SSH-2.0-");
      stream->stop({.cause = link::Cause::abandoned});
    } catch (const link::HostError& error) {
      result = report::describe(error.failure());
    }
    results_.push_back(std::move(result));
  }

  /// `gate` is reached by a proxy command; every other name is the server itself.
  SshSettings settings_for(const hosts::Host& host) const {
    if (host.name == "gate") return gate_;
    SshSettings settings = settings_;
    settings.proxy_command.clear();
    return settings;
  }

  const SshWorld world_ = world([this](const hosts::Host& host) { return settings_for(host); });

 protected:
  JumpHosts jump_hosts_{world_};
};

TEST_F(JumpHostsTest, ConnectsOnceForAllHosts) {
  run([this]() -> asio::awaitable<void> {
    for (int host = 0; host < 5; ++host) start("gate");
    co_await wait_for_results(5);
    start("gate");
    co_await wait_for_results(6);
  });
  EXPECT_THAT(results_, Each(kThrough));
  EXPECT_EQ(made(), 1U);
  EXPECT_EQ(logins(), 1U);
}

TEST_F(JumpHostsTest, SharesTheFirstOfSeveralHops) {
  run([this]() -> asio::awaitable<void> {
    for (int host = 0; host < 3; ++host) start("gate,inner");
    start("gate");
    co_await wait_for_results(4);
  });
  EXPECT_THAT(results_, Each(kThrough));
  EXPECT_EQ(made(), 1U);
  EXPECT_EQ(logins(), 2U);
}

TEST_F(JumpHostsTest, TellsAllHostsOfOneFailure) {
  break_gate();
  run([this]() -> asio::awaitable<void> {
    for (int host = 0; host < 3; ++host) start("gate");
    co_await wait_for_results(3);
  });
  EXPECT_THAT(results_, Each("jump host gate: ProxyCommand: exit 1: gone"));
  EXPECT_EQ(made(), 1U) << "all of them waited for the same attempt";
}

TEST_F(JumpHostsTest, NamesEveryHopToTheOneThatFailed) {
  break_gate();
  run([this]() -> asio::awaitable<void> {
    start("gate,inner");
    co_await wait_for_results(1);
  });
  EXPECT_THAT(results_, Each("jump host inner: jump host gate: ProxyCommand: exit 1: gone"));
}

TEST_F(JumpHostsTest, ConnectsAgainAfterAFailure) {
  break_gate();
  run([this]() -> asio::awaitable<void> {
    start("gate");
    co_await wait_for_results(1);
    mend_gate();
    start("gate");
    co_await wait_for_results(2);
  });
  EXPECT_EQ(results_.back(), kThrough);
  EXPECT_EQ(made(), 2U);
}

TEST_F(JumpHostsTest, ConnectsAgainAfterTheConnectionBroke) {
  run([this]() -> asio::awaitable<void> {
    start("gate");
    co_await wait_for_results(1);
    const std::shared_ptr<link::Stream> way = ways_.front().lock();
    way->stop({.cause = link::Cause::reset});
    // A host that asks before the end is noticed is told of it, as on any connection that breaks.
    for (std::size_t hosts = 2; results_.size() < 20; ++hosts) {
      start("gate");
      co_await wait_for_results(hosts);
      if (results_.back() == kThrough && made() > 1) break;
    }
  });
  EXPECT_EQ(results_.back(), kThrough);
  EXPECT_EQ(made(), 2U);
}

TEST_F(JumpHostsTest, GoesOnWhenTheHostThatConnectsGivesUp) {
  run([this]() -> asio::awaitable<void> {
    const std::shared_ptr<Jump> first = start("gate");
    EXPECT_TRUE(co_await eventually(executor(), [this] { return made() == 1; }));
    start("gate");
    first->stop({.cause = link::Cause::cancelled});
    co_await wait_for_results(2);
  });
  EXPECT_THAT(results_, testing::Contains(kThrough));
  EXPECT_THAT(results_, testing::Contains(testing::HasSubstr("cancelled")));
}

}  // namespace
}  // namespace podrun::ssh
