// SPDX-License-Identifier: Apache-2.0
// The connections of a link, with a real sshd.
#include "podrun/ssh/connector.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "podrun/link/kept_links.hpp"

#include "support/run_coroutine.hpp"
#include "support/stream_reader.hpp"
#include "unit/ssh/ssh_world_fixture.hpp"

namespace podrun::ssh {
namespace {

using test::eventually;
using test::StreamReader;

const hosts::Host kHost{.name = "a"};
constexpr int kChannels = 10;  // that sshd takes on a connection

/// A link to an sshd.
class SshLinkTest : public SshWorldTest {
 protected:
  SshLinkTest() {
    connector_ = make_ssh_connector(world(), [this](const hosts::Host&) { return settings_; });
    link_ = connector_->link(kHost);
  }

  asio::awaitable<std::shared_ptr<link::Stream>> start(const std::string& text) {
    link::Program program{.script = Chunk(std::string(text)), .arguments = {}};
    co_return co_await link_->exec(std::move(program));
  }

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
