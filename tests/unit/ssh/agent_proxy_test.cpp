// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/steady_timer.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

#include "support/at_the_descriptor_limit.hpp"
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
using test::on_thread;
using test::run_coroutine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Made outside of coroutines, in which g++ 12 fails on lists in braces.
const std::vector<AgentKey> kOneKey = {{"a", "my key"}};
const std::vector<AgentKey> kOtherKey = {{"b", "other key"}};
const std::vector<AgentKey> kTwoKeys = {{"b", "second"}, {"a", "first"}};
const std::vector<AgentKey> kCertificate = {{"a", ""}, {"certificate", "", "its key"}};
const std::vector<std::string> kNoSignatures = {wire_string(kRefused), wire_string("\x0e"),
                                                wire_string(kListRequest)};
const std::vector<std::string> kBadSizes = {wire_number(0), wire_number(256 * 1024 + 1)};

std::string sign_request(const std::string& blob) {
  return "\x0d"s + wire_string(blob) + wire_string("data") + wire_number(4);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Talks to a proxy as libssh does: blocking.
class Client {
 public:
  explicit Client(AgentProxy& proxy) : descriptor_(proxy.release_descriptor()) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(descriptor_); }

  /// The answer without its size; `closed` when there is none.
  std::string ask_bytes(const std::string& bytes) const {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = ::send(descriptor_, &bytes[sent], bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return "closed";
      sent += static_cast<std::size_t>(count);
    }
    const std::string header = receive(4);
    if (header.size() < 4) return "closed";
    return receive(WireReader(header).number());
  }
  std::string ask(const std::string& message) const { return ask_bytes(wire_string(message)); }
  asio::awaitable<std::string> ask(asio::any_io_executor executor, std::string message) const {
    std::string answer;
    co_await on_thread(executor, [&] { answer = ask(message); });
    co_return answer;
  }

 private:
  std::string receive(std::size_t size) const {
    std::string bytes(size, '\0');
    const ssize_t count = ::recv(descriptor_, bytes.data(), size, MSG_WAITALL);
    bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return bytes;
  }

  int descriptor_;
};

TEST(AgentProxy, ShowsTheChosenKeysInTheirOrder) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Agent agent(executor, "/nonexistent");
    AgentProxy proxy(agent);
    const Client client(proxy);
    EXPECT_EQ(co_await client.ask(executor, kListRequest), "\x0c\0\0\0\0"s);
    proxy.show(kTwoKeys);
    EXPECT_EQ(co_await client.ask(executor, kListRequest), agent_keys_message(kTwoKeys));
    proxy.show(kOtherKey);
    EXPECT_EQ(co_await client.ask(executor, kListRequest), agent_keys_message(kOtherKey));
  });
}

TEST(AgentProxy, ForwardsSigningWithAShownKeyOnly) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    Agent agent(executor, fake.socket());
    AgentProxy proxy(agent);
    const Client client(proxy);
    proxy.show(kCertificate);
    fake.will_say(kSigned);
    EXPECT_EQ(co_await client.ask(executor, sign_request("a")), kSigned);
    fake.pieces = FakeAgent::Pieces::bytes;
    fake.will_say(kSigned);
    EXPECT_EQ(co_await client.ask(executor, sign_request("certificate")), kSigned);
    EXPECT_EQ(proxy.last_asked(), "certificate");
    EXPECT_THAT(fake.requests, ElementsAre(sign_request("a"), sign_request("its key")));

    EXPECT_EQ(co_await client.ask(executor, sign_request("its key")), kRefused);
    EXPECT_EQ(co_await client.ask(executor, sign_request("a") + "x"), kRefused);
    EXPECT_EQ(co_await client.ask(executor, sign_request("a").substr(0, 10)), kRefused);
    EXPECT_EQ(co_await client.ask(executor, "\x13"), kRefused);  // remove all keys
    EXPECT_EQ(fake.requests.size(), 2U);
    EXPECT_EQ(proxy.trouble(), "");
    fake.end();
  });
}

TEST(AgentProxy, SaysWhyTheAgentDoesNotSign) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    Agent agent(executor, fake.socket());
    AgentProxy proxy(agent);
    const Client client(proxy);
    proxy.show(kOneKey);
    for (const std::string& answer : kNoSignatures) {
      fake.will_say_bytes(answer);
      EXPECT_EQ(co_await client.ask(executor, sign_request("a")), kRefused);
      EXPECT_EQ(proxy.trouble(), "agent \"" + fake.socket() + "\": it does not sign with the key \"my key\"");
    }
    fake.will_say_bytes("\0"s);
    EXPECT_EQ(co_await client.ask(executor, sign_request("a")), kRefused);
    EXPECT_THAT(proxy.trouble(), HasSubstr("it closed the connection"));
    fake.will_say(kSigned);
    EXPECT_EQ(co_await client.ask(executor, sign_request("a")), kSigned);
    EXPECT_EQ(proxy.trouble(), "");
    fake.end();
    std::filesystem::remove(fake.socket());
    EXPECT_EQ(co_await client.ask(executor, sign_request("a")), kRefused);
    EXPECT_THAT(proxy.trouble(), HasSubstr("No such file or directory"));
  });
}

TEST(AgentProxy, EndsAClientThatTalksNonsense) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Agent agent(executor, "/nonexistent");
    for (const std::string& bytes : kBadSizes) {
      AgentProxy proxy(agent);
      const Client client(proxy);
      std::string answer;
      co_await on_thread(executor, [&] { answer = client.ask_bytes(bytes); });
      EXPECT_EQ(answer, "closed");
    }
  });
}

/// Checks that `end` ends a client's wait for an agent that says nothing.
template <typename End>
void expect_to_free_the_client(End end) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    fake.will_say_nothing();
    Agent agent(executor, fake.socket());
    auto proxy = std::make_unique<AgentProxy>(agent);
    proxy->show(kOneKey);
    const Client client(*proxy);
    std::string answer;
    const auto end_it = [](asio::any_io_executor on, FakeAgent& asked, std::unique_ptr<AgentProxy>& of,
                           End& how) -> asio::awaitable<void> {
      EXPECT_TRUE(co_await test::eventually(on, [&] { return asked.requests.size() == 1; }));
      how(of);
    };
    asio::co_spawn(executor, end_it(executor, fake, proxy, end), asio::detached);
    co_await on_thread(executor, [&] { answer = client.ask(sign_request("a")); });
    EXPECT_EQ(answer, "closed");
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return fake.left() == 1; }));
    fake.end();
  });
}

TEST(AgentProxy, FreesItsClientWhenStopped) {
  expect_to_free_the_client([](std::unique_ptr<AgentProxy>& proxy) { proxy->stop(); });
}
TEST(AgentProxy, FreesItsClientWhenDestroyed) {
  expect_to_free_the_client([](std::unique_ptr<AgentProxy>& proxy) { proxy.reset(); });
}

TEST(AgentProxy, ServesNoClientOnceStopped) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Agent agent(executor, "/nonexistent");
    AgentProxy proxy(agent);
    proxy.stop();
    EXPECT_THAT(co_await proxy.list(), IsEmpty());
    const Client client(proxy);
    EXPECT_EQ(co_await client.ask(executor, kListRequest), "closed");
  });
}

TEST(AgentProxy, GivesUpAnAgentThatListsNothingInTime) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    fake.will_say_nothing();
    Agent agent(executor, fake.socket());
    AgentProxy proxy(agent);
    proxy.give_up_after(std::chrono::seconds(1));
    EXPECT_THAT(co_await proxy.list(), IsEmpty());
    EXPECT_TRUE(proxy.has_given_up());
    EXPECT_EQ(proxy.trouble(), "agent \"" + fake.socket() + "\": no answer for 1 s");
    fake.end();
  });
}

TEST(AgentProxy, GivesUpAnAgentThatSignsNothingInTimeAndAsksItNoMore) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    fake.will_say(agent_keys_message(kOneKey));
    fake.will_say_nothing();
    Agent agent(executor, fake.socket());
    AgentProxy proxy(agent);
    proxy.give_up_after(std::chrono::seconds(1));
    EXPECT_EQ(co_await proxy.list(), kOneKey);
    EXPECT_FALSE(proxy.waits());
    proxy.show(kOneKey);
    const Client client(proxy);
    for (int time = 0; time < 2; ++time) {
      EXPECT_EQ(co_await client.ask(executor, sign_request("a")), kRefused);
      EXPECT_THAT(proxy.trouble(), HasSubstr("no answer for 1 s"));
    }
    EXPECT_EQ(fake.requests.size(), 2U);
    fake.end();
  });
}

TEST(AgentProxy, WaitsForADescriptor) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    fake.will_say(agent_keys_message(kOneKey));
    Agent agent(executor, fake.socket());
    AgentProxy proxy(agent);
    test::AtTheDescriptorLimit limit;
    asio::steady_timer timer(executor, std::chrono::milliseconds(50));
    timer.async_wait([&](const std::error_code&) { limit.lift(); });
    EXPECT_EQ(co_await proxy.list(), kOneKey) << proxy.trouble();
    fake.end();
  });
}

asio::awaitable<void> sign_once(asio::any_io_executor executor, Agent& agent, AgentKey key,
                                std::size_t& signatures) {
  AgentProxy proxy(agent);
  std::vector<AgentKey> keys(1, key);
  proxy.show(std::move(keys));
  const Client client(proxy);
  const std::string answer = co_await client.ask(executor, sign_request(key.blob));
  EXPECT_TRUE(is_signature_message(answer)) << proxy.trouble();
  ++signatures;
}

/// More than can wait at its socket.
TEST(AgentProxy, WaitsForItsTurnAtABusyAgentAndLeavesNoDescriptor) {
  constexpr std::size_t kMany = 200;
  const std::size_t before = open_descriptors();
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    const test::TempDirectory directory;
    const test::SshAgent real;
    real.add(test::make_key(directory, "key", {"ed25519"}));
    real.process().signal(SIGSTOP);
    AgentKey key;
    key.blob = test::blob_in(directory, "key.pub");
    Agent agent(executor, real.socket());
    std::size_t signatures = 0;
    for (std::size_t i = 0; i < kMany; ++i) {
      asio::co_spawn(executor, sign_once(executor, agent, key, signatures), asio::detached);
    }
    // A pair and a connection each.
    EXPECT_TRUE(co_await test::eventually(executor, [] { return open_descriptors() >= 3 * kMany; }));
    EXPECT_EQ(signatures, 0U);
    real.process().signal(SIGCONT);
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return signatures == kMany; }));
  });
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace podrun::ssh
