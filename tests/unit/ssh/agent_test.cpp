// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/auth/agent.hpp"

#include <deque>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/ssh/host_keys/key_blob.hpp"

#include "support/fake_agent.hpp"
#include "support/run_coroutine.hpp"
#include "support/ssh_agent.hpp"
#include "support/ssh_keygen.hpp"
#include "support/temp_directory.hpp"

namespace podrun::ssh {
namespace {

using namespace std::string_literals;
using test::FakeAgent;
using test::kListRequest;
using test::kRefused;
using test::kSigned;
using test::run_coroutine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<AgentKey> kOneKey = {
    {"a", "my key"}};  // made here: g++ 12 fails on such lists in coroutines

TEST(AgentKeys, AreReadFromWhatAnAgentSays) {
  const std::vector<AgentKey> keys = {{"blob", "comment"}, {"", ""}, {"b\0c"s, "\n"}};
  EXPECT_EQ(parse_agent_keys(agent_keys_message(keys)), keys);
  EXPECT_EQ(parse_agent_keys("\x0c\0\0\0\0"s), std::vector<AgentKey>());
  const std::string message = agent_keys_message(keys);
  for (std::size_t size = 0; size < message.size(); ++size) {
    EXPECT_EQ(parse_agent_keys(message.substr(0, size)), std::nullopt) << size;
  }
  EXPECT_EQ(parse_agent_keys(message + "x"), std::nullopt);
  EXPECT_EQ(parse_agent_keys("\x0c\xff\xff\xff\xff"s), std::nullopt);
  EXPECT_EQ(parse_agent_keys(kRefused), std::nullopt);
}

TEST(AgentKeys, KnowASignature) {
  EXPECT_TRUE(is_signature_message(kSigned));
  EXPECT_FALSE(is_signature_message(kSigned + "x"));
  EXPECT_FALSE(is_signature_message("\x0e"s + wire_string("")));
  EXPECT_FALSE(is_signature_message(kRefused));
  EXPECT_FALSE(is_signature_message(""));
}

TEST(Agent, GivesTheKeysOfARealOne) {
  const test::TempDirectory directory;
  const test::SshAgent real;
  real.add(test::make_key(directory, "first", {"ed25519"}));
  real.add(test::make_key(directory, "second", {"ecdsa"}));
  const auto keys =
      run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::vector<AgentKey>> {
        Agent agent(executor, real.socket());
        AgentProxy proxy(agent);
        auto found = co_await proxy.list();
        EXPECT_EQ(proxy.trouble(), "");
        co_return found;
      });
  EXPECT_THAT(keys, ElementsAre(AgentKey{test::blob_in(directory, "first.pub"), "first"},
                                AgentKey{test::blob_in(directory, "second.pub"), "second"}));
}

asio::awaitable<void> count_list(AgentProxy& proxy, std::size_t& listed) {
  const std::vector<AgentKey> keys = co_await proxy.list();
  EXPECT_EQ(keys.size(), 1U);
  ++listed;
}

TEST(Agent, IsAskedOnceForAll) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    fake.pieces = FakeAgent::Pieces::bytes;
    fake.will_say(agent_keys_message(kOneKey));
    Agent agent(executor, fake.socket());
    std::deque<AgentProxy> proxies;
    std::size_t listed = 0;
    for (int i = 0; i < 3; ++i) {
      asio::co_spawn(executor, count_list(proxies.emplace_back(agent), listed), asio::detached);
    }
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return listed == 3; }));
    co_await count_list(proxies.emplace_back(agent), listed);
    EXPECT_THAT(fake.requests, ElementsAre(kListRequest));
    fake.end();
  });
}

/// Why there are no keys in an agent that says this.
std::string trouble_with(const std::string& bytes) {
  return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
    FakeAgent fake(executor);
    fake.will_say_bytes(bytes);
    Agent agent(executor, fake.socket());
    AgentProxy proxy(agent);
    EXPECT_THAT(co_await proxy.list(), IsEmpty());
    fake.end();
    const std::string start = "agent \"" + fake.socket() + "\": ";
    EXPECT_THAT(proxy.trouble(), testing::StartsWith(start));
    co_return proxy.trouble().substr(start.size());
  });
}

TEST(Agent, HasNoKeysWhenItTalksNonsense) {
  EXPECT_EQ(trouble_with(wire_string(kRefused)), "it refused");
  EXPECT_EQ(trouble_with(wire_string("\x0chm")), "it sent no list of keys");
  EXPECT_EQ(trouble_with(wire_string(kSigned)), "it sent no list of keys");
  EXPECT_EQ(trouble_with(wire_string("")), "it sent a message of 0 bytes");
  EXPECT_EQ(trouble_with(wire_number(256 * 1024 + 1)), "it sent a message of 262145 bytes");
  EXPECT_EQ(trouble_with("HTTP/1.1 400\r\n"), "it sent a message of 1213486160 bytes");
  EXPECT_EQ(trouble_with("\0\0"s), "it closed the connection");
  EXPECT_EQ(trouble_with(wire_number(10) + "\x0c"), "it closed the connection");
}

std::string trouble_at(const std::string& socket) {
  return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
    Agent agent(executor, socket);
    AgentProxy proxy(agent);
    EXPECT_THAT(co_await proxy.list(), IsEmpty());
    co_return proxy.trouble();
  });
}

TEST(Agent, HasNoKeysWhenItIsNotThere) {
  const test::TempDirectory directory;
  EXPECT_EQ(trouble_at(directory.path("none")),
            "agent \"" + directory.path("none") + "\": No such file or directory");
  EXPECT_THAT(trouble_at(directory.write("file", "")), HasSubstr("Connection refused"));
  EXPECT_THAT(trouble_at(directory.path(std::string(108, 'x'))),
              HasSubstr("the name of its socket is too long"));
}

TEST(Agent, LetsEachStopWaiting) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    fake.will_say_nothing();
    Agent agent(executor, fake.socket());
    AgentProxy first(agent);
    AgentProxy second(agent);
    std::vector<std::string> ended;
    const auto wait = [](AgentProxy& proxy, std::vector<std::string>& ends,
                         std::string name) -> asio::awaitable<void> {
      EXPECT_THAT(co_await proxy.list(), IsEmpty());
      EXPECT_THAT(proxy.trouble(), HasSubstr("stopped"));
      ends.push_back(std::move(name));
    };
    asio::co_spawn(executor, wait(first, ended, "first"), asio::detached);
    asio::co_spawn(executor, wait(second, ended, "second"), asio::detached);
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return fake.requests.size() == 1; }));
    first.stop();
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return ended.size() == 1; }));
    EXPECT_EQ(fake.left(), 0U);  // the other still waits
    second.stop();
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return fake.left() == 1; }));
    EXPECT_THAT(ended, ElementsAre("first", "second"));

    fake.will_say(agent_keys_message(kOneKey));
    AgentProxy third(agent);
    std::size_t listed = 0;
    co_await count_list(third, listed);  // asked again
    fake.end();
  });
}

TEST(Agents, AreOneForEachSocket) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Agents agents(executor);
    EXPECT_EQ(agents.find(""), nullptr);
    EXPECT_EQ(agents.find("/a"), agents.find("/a"));
    EXPECT_NE(agents.find("/a"), agents.find("/b"));
    co_return;
  });
}

}  // namespace
}  // namespace podrun::ssh
