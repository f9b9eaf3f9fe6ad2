// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pwd.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/local/process.hpp"
#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/auth/identities.hpp"
#include "podrun/ssh/ssh_world.hpp"

#include "support/run_coroutine.hpp"
#include "support/ssh_keygen.hpp"
#include "support/ssh_server.hpp"

namespace podrun::ssh {

/// The state that SSH links share, and an sshd behind proxy commands, which are counted.
class SshWorldTest : public testing::Test {
 protected:
  SshWorldTest() {
    make_key(server_.directory(), "key", {"ed25519"});
    server_.authorize(server_.directory().read("key.pub"));
    settings_.host_name = "127.0.0.1";
    settings_.port = server_.port();
    settings_.user = ::getpwuid(::getuid())->pw_name;
    settings_.identity_files = {server_.directory().path("key")};
    settings_.proxy_command = fmt::format(
        "exec 3<>/dev/tcp/127.0.0.1/{} 4<&0; cat <&4 >&3 2>/dev/null & exec cat <&3", server_.port());
  }
  ~SshWorldTest() override {
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

  SshWorld world(SettingsForJumpHost settings_for_jump_host = {}) {
    return {.executor = executor(),
            .resolver = resolver_,
            .host_keys = host_keys_,
            .credentials = credentials_,
            .settings_for_jump_host = std::move(settings_for_jump_host),
            .run_proxy_command = [this](const std::string& text) { return connect(text); }};
  }

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

 protected:
  test::SshServer server_;
  SshSettings settings_;  ///< of the way to the server
  std::vector<std::weak_ptr<link::Stream>> ways_;

 private:
  local::TransportCommands transports_;
  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  BlockingPool pool_{context_, 1};
  Resolver resolver_{context_->get_executor(), pool_};
  HostKeys host_keys_;
  Identities identities_{server_.directory().path()};
  LoginMemory memory_;
  Agents agents_{context_->get_executor()};
  Credentials credentials_{identities_, memory_, agents_, pool_};
};

}  // namespace podrun::ssh
