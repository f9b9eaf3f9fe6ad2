// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/agent.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <deque>
#include <filesystem>
#include <iterator>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/ssh/key_blob.hpp"

#include "support/run_coroutine.hpp"
#include "support/ssh_agent.hpp"
#include "support/ssh_keygen.hpp"
#include "support/temp_directory.hpp"

namespace podrun {
namespace {

using namespace std::string_literals;
using asio::local::stream_protocol;
using test::on_thread;
using test::run_coroutine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kListRequest = "\x0b";
const std::string kRefused = "\x05";
const std::string kSigned = "\x0e"s + wire_string(wire_string("ssh-ed25519") + wire_string("by me"));

std::string sign_request(const std::string& blob) {
  return "\x0d"s + wire_string(blob) + wire_string("data") + wire_number(4);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// An agent in the hand of the test: gives the next connection the next of its answers, as raw bytes.
class FakeAgent {
 public:
  enum class Pieces { whole, bytes };

  explicit FakeAgent(const asio::any_io_executor& executor)
      : acceptor_(executor, stream_protocol::endpoint(socket())) {
    asio::co_spawn(executor, accept(), asio::detached);
  }

  std::string socket() const { return directory_.path("socket"); }
  /// What the next connection is told, framed. An empty text: nothing, for ever.
  void will_say(const std::string& message) { answers_.push_back(wire_string(message)); }
  void will_say_bytes(const std::string& bytes) { answers_.push_back(bytes); }
  void will_say_nothing() { answers_.emplace_back(); }

  Pieces pieces = Pieces::whole;
  std::vector<std::string> requests;
  std::size_t left = 0;  ///< connections that ended at our end

  /// Lets go of all, so that nothing is pending.
  void end() {
    std::error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  using Socket = stream_protocol::socket;

  asio::awaitable<void> accept() {
    for (;;) {
      Socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(acceptor_.get_executor(), serve(std::move(socket)), asio::detached);
    }
  }
  asio::awaitable<void> serve(Socket socket) {
    std::array<char, 4> header{};
    co_await asio::async_read(socket, asio::buffer(header), asio::use_awaitable);
    std::string request(WireReader({header.data(), header.size()}).number(), '\0');
    co_await asio::async_read(socket, asio::buffer(request), asio::use_awaitable);
    requests.push_back(request);
    std::string answer = std::move(answers_.front());
    answers_.pop_front();
    if (answer.empty()) {
      std::error_code ended;
      co_await asio::async_read(socket, asio::buffer(header), asio::redirect_error(asio::use_awaitable, ended));
      ++left;
    }
    const std::size_t step = pieces == Pieces::whole ? answer.size() : 1;
    for (std::size_t start = 0; start < answer.size(); start += step) {
      const std::string piece = answer.substr(start, step);
      co_await asio::async_write(socket, asio::buffer(piece), asio::use_awaitable);
    }
  }

  test::TempDirectory directory_;
  stream_protocol::acceptor acceptor_;
  std::deque<std::string> answers_;
};

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
  const auto keys = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::vector<AgentKey>> {
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
    fake.will_say(agent_keys_message({{"blob", "comment"}}));
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
  EXPECT_EQ(trouble_with("\0\0"s), "it ended the connection");
  EXPECT_EQ(trouble_with(wire_number(10) + "\x0c"), "it ended the connection");
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
  EXPECT_THAT(trouble_at(directory.path(std::string(108, 'x'))), HasSubstr("the name of its socket is too long"));
}

TEST(Agent, LetsEachStopWaiting) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    fake.will_say_nothing();
    Agent agent(executor, fake.socket());
    AgentProxy first(agent);
    AgentProxy second(agent);
    std::vector<std::string> ended;
    const auto wait = [](AgentProxy& proxy, std::vector<std::string>& ends, std::string name) -> asio::awaitable<void> {
      EXPECT_THAT(co_await proxy.list(), IsEmpty());
      EXPECT_THAT(proxy.trouble(), HasSubstr("stopped"));
      ends.push_back(std::move(name));
    };
    asio::co_spawn(executor, wait(first, ended, "first"), asio::detached);
    asio::co_spawn(executor, wait(second, ended, "second"), asio::detached);
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return fake.requests.size() == 1; }));
    first.stop();
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return ended.size() == 1; }));
    EXPECT_EQ(fake.left, 0U);  // the other still waits
    second.stop();
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return fake.left == 1; }));
    EXPECT_THAT(ended, ElementsAre("first", "second"));

    fake.will_say(agent_keys_message({{"blob", "comment"}}));
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

TEST(AgentProxy, ShowsTheChosenKeysInTheirOrder) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Agent agent(executor, "/nonexistent");
    AgentProxy proxy(agent);
    const Client client(proxy);
    EXPECT_EQ(co_await client.ask(executor, kListRequest), agent_keys_message({}));
    const std::vector<AgentKey> keys = {{"b", "second"}, {"a", "first"}};
    proxy.show(keys);
    EXPECT_EQ(co_await client.ask(executor, kListRequest), agent_keys_message(keys));
    proxy.show({keys[1]});
    EXPECT_EQ(co_await client.ask(executor, kListRequest), agent_keys_message({keys[1]}));
  });
}

TEST(AgentProxy, ForwardsSigningWithAShownKeyOnly) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    Agent agent(executor, fake.socket());
    AgentProxy proxy(agent);
    const Client client(proxy);
    std::vector<AgentKey> keys = {{"a", ""}, {"certificate", "", "its key"}};
    proxy.show(keys);
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
    std::vector<AgentKey> keys = {{"a", "my key"}};
    proxy.show(keys);
    for (const std::string& answer : {wire_string(kRefused), wire_string("\x0e"), wire_string(kListRequest)}) {
      fake.will_say_bytes(answer);
      EXPECT_EQ(co_await client.ask(executor, sign_request("a")), kRefused);
      EXPECT_EQ(proxy.trouble(), "agent \"" + fake.socket() + "\": it does not sign with the key \"my key\"");
    }
    fake.will_say_bytes("\0"s);
    EXPECT_EQ(co_await client.ask(executor, sign_request("a")), kRefused);
    EXPECT_THAT(proxy.trouble(), HasSubstr("it ended the connection"));
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
    for (const std::string& bytes : {wire_number(0), wire_number(256 * 1024 + 1)}) {
      AgentProxy proxy(agent);
      const Client client(proxy);
      std::string answer;
      co_await on_thread(executor, [&] { answer = client.ask_bytes(bytes); });
      EXPECT_EQ(answer, "closed");
    }
  });
}

/// What ends the wait of a client for an agent that says nothing.
template <typename End>
void expect_to_free_the_client(End end) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    FakeAgent fake(executor);
    fake.will_say_nothing();
    Agent agent(executor, fake.socket());
    auto proxy = std::make_unique<AgentProxy>(agent);
    std::vector<AgentKey> keys = {{"a", ""}};
    proxy->show(keys);
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
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return fake.left == 1; }));
    fake.end();
  });
}

TEST(AgentProxy, FreesItsClientWhenStopped) {
  expect_to_free_the_client([](std::unique_ptr<AgentProxy>& proxy) { proxy->stop(); });
}
TEST(AgentProxy, FreesItsClientWhenDestroyed) {
  expect_to_free_the_client([](std::unique_ptr<AgentProxy>& proxy) { proxy.reset(); });
}

TEST(AgentProxy, ServesNobodyOnceStopped) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    Agent agent(executor, "/nonexistent");
    AgentProxy proxy(agent);
    proxy.stop();
    EXPECT_THAT(co_await proxy.list(), IsEmpty());
    const Client client(proxy);
    EXPECT_EQ(co_await client.ask(executor, kListRequest), "closed");
  });
}

asio::awaitable<void> sign_once(asio::any_io_executor executor, Agent& agent, AgentKey key,
                                std::size_t& signatures) {
  AgentProxy proxy(agent);
  proxy.show({key});
  const Client client(proxy);
  const std::string answer = co_await client.ask(executor, sign_request(key.blob));
  EXPECT_TRUE(is_signature_message(answer)) << proxy.trouble();
  ++signatures;
}

/// More than a listening socket keeps waiting.
TEST(AgentProxy, WaitsForItsTurnAtABusyAgentAndLeavesNoDescriptor) {
  constexpr std::size_t kMany = 300;
  const std::size_t before = open_descriptors();
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    const test::TempDirectory directory;
    const test::SshAgent real;
    real.add(test::make_key(directory, "key", {"ed25519"}));
    real.process().signal(SIGSTOP);
    const AgentKey key{test::blob_in(directory, "key.pub"), ""};
    Agent agent(executor, real.socket());
    std::size_t signatures = 0;
    for (std::size_t i = 0; i < kMany; ++i) {
      asio::co_spawn(executor, sign_once(executor, agent, key, signatures), asio::detached);
    }
    asio::steady_timer moment(executor, std::chrono::milliseconds(100));  // its backlog is full
    co_await moment.async_wait(asio::use_awaitable);
    EXPECT_EQ(signatures, 0U);
    real.process().signal(SIGCONT);
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return signatures == kMany; }));
  });
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace podrun
