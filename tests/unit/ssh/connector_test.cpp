// SPDX-License-Identifier: Apache-2.0
// The connections of a link, with a real sshd.
#include "podrun/ssh/connector.hpp"

#include <pwd.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/link/kept_links.hpp"
#include "podrun/local/process.hpp"
#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/auth/identities.hpp"

#include "support/run_coroutine.hpp"
#include "support/ssh_keygen.hpp"
#include "support/ssh_server.hpp"
#include "support/stream_reader.hpp"

namespace podrun::ssh {
namespace {

using test::eventually;
using test::StreamReader;

const hosts::Host kHost{.name = "a"};
constexpr int kChannels = 10;  // that sshd takes on a connection

/// A link to an sshd, by proxy commands that are watched.
class SshLinkTest : public testing::Test {
 protected:
  SshLinkTest() {
    make_key(server_.directory(), "key", {"ed25519"});
    server_.authorize(server_.directory().read("key.pub"));
    settings_.host_name = "127.0.0.1";
    settings_.user = ::getpwuid(::getuid())->pw_name;
    settings_.identity_files = {server_.directory().path("key")};
    settings_.proxy_command = fmt::format(
        "exec 3<>/dev/tcp/127.0.0.1/{} 4<&0; cat <&4 >&3 2>/dev/null & exec cat <&3", server_.port());
    connector_ =
        make_ssh_connector({.executor = context_->get_executor(),
                            .resolver = resolver_,
                            .host_keys = host_keys_,
                            .credentials = credentials_,
                            .settings_for_jump_host = {},
                            .run_proxy_command = [this](const std::string& text) { return connect(text); }},
                           [this](const hosts::Host&) { return settings_; });
    link_ = connector_->link(kHost);
  }
  ~SshLinkTest() override {
    link_.reset();
    context_->run_for(test::kDeadline);
    (void)std::signal(SIGPIPE, pipe_before_);
  }

  template <typename Body>
  void run(Body body) {
    bool done = false;
    asio::co_spawn(*context_, body(), [&](const std::exception_ptr& error) {
      done = true;
      if (error) std::rethrow_exception(error);
    });
    while (!done && context_->run_one_for(test::kDeadline) > 0) {
    }
    ASSERT_TRUE(done);
  }

  asio::awaitable<std::shared_ptr<link::Stream>> start(const std::string& text) {
    link::Program program{.script = Chunk(std::string(text)), .arguments = {}};
    co_return co_await link_->exec(std::move(program));
  }

  /// The number of connections that are kept open.
  std::size_t kept() const {
    std::size_t count = 0;
    for (const auto& way : ways_) count += way.expired() ? 0 : 1;
    return count;
  }
  std::size_t made() const { return ways_.size(); }
  std::size_t logins() const {
    const std::string log = server_.log();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find("Accepted publickey", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  asio::any_io_executor executor() { return context_->get_executor(); }

 private:
  std::shared_ptr<link::Stream> connect(const std::string& text) {
    std::shared_ptr<link::Stream> way =
        local::spawn_process(executor(), {.arguments = {"bash", "-c", text},
                                          .environment = {"PATH=/usr/bin:/bin"},
                                          .transports = &transports_});
    ways_.push_back(way);
    return way;
  }

  void (*pipe_before_)(int) = std::signal(SIGPIPE, SIG_IGN);  // as main does
  test::SshServer server_;
  SshSettings settings_;
  local::TransportCommands transports_;
  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  BlockingPool pool_{context_, 1};
  Resolver resolver_{context_->get_executor(), pool_};
  HostKeys host_keys_;
  Identities identities_{server_.directory().path()};
  KeyMemory memory_;
  Agents agents_{context_->get_executor()};
  Credentials credentials_{identities_, memory_, agents_, pool_};
  std::vector<std::weak_ptr<link::Stream>> ways_;

 protected:
  std::unique_ptr<link::Connector> connector_;
  std::unique_ptr<link::Link> link_;
};

TEST_F(SshLinkTest, KeepsNoFurtherConnectionThatHasEnded) {
  run([this]() -> asio::awaitable<void> {
    co_await link_->open();
    std::vector<std::shared_ptr<link::Stream>> first;
    for (int channel = 0; channel < kChannels; ++channel) first.push_back(co_await start("cat"));
    EXPECT_EQ(made(), 1U);
    constexpr int kFurther = 4;
    for (int further = 0; further < kFurther; ++further) {
      const std::shared_ptr<link::Stream> stream =
          co_await start("kill $PPID");  // the server of the connection
      StreamReader reader(*stream);
      co_await reader.to_end();
    }
    EXPECT_EQ(made(), 1U + kFurther);
    EXPECT_TRUE(co_await eventually(executor(), [this] { return kept() <= 2; })) << kept();
  });
}

class KeptSshLinkTest : public SshLinkTest {
 protected:
  KeptSshLinkTest() { link_ = kept_links_->link(kHost); }
  ~KeptSshLinkTest() override {
    link_.reset();
    kept_links_.reset();
  }

  /// Opens a link, has this program run, and stops the link as a run does at its end.
  asio::awaitable<std::string> output_of_run(std::string text) {
    link_ = kept_links_->link(kHost);
    co_await link_->open();
    const std::shared_ptr<link::Stream> stream = co_await start(text);
    StreamReader reader(*stream);
    co_await reader.to_end();
    link_->stop({.cause = link::Cause::abandoned});
    co_return reader.out();
  }

  std::optional<link::KeptLinks> kept_links_{std::in_place, *connector_};
};

TEST_F(KeptSshLinkTest, LogsInOnceForTwoRuns) {
  run([this]() -> asio::awaitable<void> {
    const std::string first = co_await output_of_run("echo one");
    const std::string second = co_await output_of_run("echo two");
    EXPECT_EQ(first + second, "one\ntwo\n");
    EXPECT_EQ(logins(), 1U) << "the connection should have been kept";
  });
}

TEST_F(KeptSshLinkTest, LogsInAgainWhenTheConnectionBrokeBetweenTwoRuns) {
  run([this]() -> asio::awaitable<void> {
    co_await output_of_run("echo one");
    co_await output_of_run("kill $PPID");  // the server of the connection
    const std::string after = co_await output_of_run("echo two");
    EXPECT_EQ(after, "two\n");
    EXPECT_EQ(logins(), 2U);
  });
}

TEST_F(KeptSshLinkTest, EndsTheProgramsOfAStoppedLink) {
  run([this]() -> asio::awaitable<void> {
    link_ = kept_links_->link(kHost);
    co_await link_->open();
    const std::shared_ptr<link::Stream> stream = co_await start("echo started; cat; echo ended");
    StreamReader reader(*stream);
    co_await reader.until("started");
    link_->stop({link::Stage::running, link::Cause::cancelled});
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "running: cancelled");
    const std::string next = co_await output_of_run("echo next");
    EXPECT_EQ(next, "next\n");
    EXPECT_EQ(logins(), 1U) << "only the program should have ended";
  });
}

}  // namespace
}  // namespace podrun::ssh
