// SPDX-License-Identifier: Apache-2.0
// Keys of files and of an agent, as libssh uses them with a real sshd.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libssh/libssh.h>

#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/auth/identities.hpp"

#include "support/run_coroutine.hpp"
#include "support/ssh_agent.hpp"
#include "support/ssh_keygen.hpp"
#include "support/ssh_server.hpp"

namespace podrun::ssh {
namespace {

using test::make_certificate;
using test::make_key;
using test::run_coroutine;
using test::Texts;
using testing::HasSubstr;

using SessionPointer = std::unique_ptr<ssh_session_struct, void (*)(ssh_session)>;

/// Non-blocking, connected, and known to offer keys; what is `again` waits for the socket.
class TestSession {
 public:
  explicit TestSession(std::uint16_t port) : session_(ssh_new(), ssh_free) {
    bool no = false;
    int descriptor = dial(port);
    ssh_options_set(get(), SSH_OPTIONS_PROCESS_CONFIG, &no);
    ssh_options_set(get(), SSH_OPTIONS_SSH_DIR, "/nonexistent");
    ssh_options_set(get(), SSH_OPTIONS_USER, "x");
    ssh_options_set(get(), SSH_OPTIONS_HOST, "127.0.0.1");
    ssh_options_set(get(), SSH_OPTIONS_KNOWNHOSTS, "/dev/null");
    ssh_options_set(get(), SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
    ssh_options_set(get(), SSH_OPTIONS_FD, &descriptor);
    ssh_set_blocking(get(), 0);
    EXPECT_EQ(finish([this] { return ssh_connect(get()); }, SSH_AGAIN), SSH_OK) << ssh_get_error(get());
    EXPECT_EQ(finish([this] { return ssh_service_request(get(), "ssh-userauth"); }, SSH_AGAIN), SSH_OK);
  }

  ssh_session get() const { return session_.get(); }
  int log_in_with(const SshKey& key) const {
    return finish([&] { return ssh_userauth_publickey(get(), user(), key.get()); }, SSH_AUTH_AGAIN);
  }
  int log_in_with_agent() const {
    return finish([this] { return ssh_userauth_agent(get(), user()); }, SSH_AUTH_AGAIN);
  }

 private:
  static const char* user() { return ::getpwuid(::getuid())->pw_name; }
  static int dial(std::uint16_t port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return descriptor;
  }
  int finish(const std::function<int()>& call, int again) const {
    for (;;) {
      const int result = call();
      if (result != again) return result;
      pollfd readable{ssh_get_fd(get()), POLLIN, 0};
      ::poll(&readable, 1, -1);
    }
  }

  SessionPointer session_;
};

/// The server and the agent are started once for all tests.
class KeyLogin : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    pipe_before_ = std::signal(SIGPIPE, SIG_IGN);  // as main does
    server_ = std::make_unique<test::SshServer>();
  }
  static void TearDownTestSuite() {
    server_.reset();
    (void)std::signal(SIGPIPE, pipe_before_);
  }

  static const test::TempDirectory& directory() { return server_->directory(); }
  static void authorize(const std::string& name) { server_->authorize(directory().read(name + ".pub")); }
  /// A key pair that several tests may use: ed25519, ecdsa-256, rsa-2048.
  static std::string make(const std::string& name) {
    const std::string type = name.substr(name.rfind(' ') + 1);
    const std::size_t dash = type.find('-');
    if (directory().has(name)) return directory().path(name);
    return make_key(
        directory(), name,
        dash == std::string::npos ? Texts{type} : Texts{type.substr(0, dash), "-b", type.substr(dash + 1)});
  }
  /// The same with a certificate for us.
  static std::string make_certified(const std::string& name) {
    if (directory().has(name)) return directory().path(name);
    std::string file = make(name);
    make_certificate(directory(), "authority", name, {"-n", ::getpwuid(::getuid())->pw_name});
    return file;
  }
  static AgentKey key_in(const std::string& name) { return {test::blob_in(directory(), name), name}; }

  /// The result of ssh_userauth_agent() with an agent that shows these keys, and the words of the proxy.
  struct Result {
    int libssh = SSH_AUTH_ERROR;
    std::string error;
    std::string last_asked;
    std::string trouble;
  };
  static Result log_in(const std::string& socket, const std::vector<AgentKey>& keys) {
    return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Result> {
      Agent agent(executor, socket);
      AgentProxy proxy(agent);
      proxy.show(keys);
      Result result = co_await log_in_with(executor, proxy);
      co_return result;
    });
  }
  static asio::awaitable<Result> log_in_with(asio::any_io_executor executor, AgentProxy& proxy) {
    Result result;
    const int descriptor = proxy.release_descriptor();
    co_await test::on_thread(executor, [&] {
      const TestSession session(server_->port());
      ssh_set_agent_socket(session.get(), descriptor);
      result.libssh = session.log_in_with_agent();
      result.error = ssh_get_error(session.get());
    });
    result.last_asked = proxy.last_asked();
    result.trouble = proxy.trouble();
    co_return result;
  }

  static inline std::unique_ptr<test::SshServer> server_;

 private:
  static inline void (*pipe_before_)(int) = SIG_DFL;
};

TEST_F(KeyLogin, TakesKeysOfFiles) {
  Identities identities(directory().path());
  for (const char* name : {"ed25519", "ecdsa-256", "ecdsa-384", "ecdsa-521", "rsa-2048"}) {
    SshSettings settings;
    settings.identity_files = {make(name)};
    authorize(name);
    const SshKey key = identities.find(settings).at(0)->key;
    EXPECT_EQ(TestSession(server_->port()).log_in_with(key), SSH_AUTH_SUCCESS) << name;
  }
}

TEST_F(KeyLogin, TakesCertificatesOfFiles) {
  server_->authorize("");
  Identities identities(directory().path());
  for (const char* name : {"certified ed25519", "certified ecdsa-256", "certified rsa-2048"}) {
    SshSettings settings;
    settings.identity_files = {make_certified(name)};
    const IdentityList list = identities.find(settings);
    EXPECT_EQ(TestSession(server_->port()).log_in_with(list.at(0)->key), SSH_AUTH_SUCCESS) << name;
    EXPECT_EQ(TestSession(server_->port()).log_in_with(list.at(1)->key), SSH_AUTH_DENIED) << name;
  }
}

TEST_F(KeyLogin, TakesKeysOfAnAgent) {
  const test::SshAgent agent;
  for (const std::string name : {"ed25519", "ecdsa-256", "rsa-2048"}) {  // sshd takes RSA with SHA-2 only
    agent.add(make(name));
    authorize(name);
    const AgentKey key = key_in(name + ".pub");
    const Result result = log_in(agent.socket(), {key});
    EXPECT_EQ(result.libssh, SSH_AUTH_SUCCESS) << name << result.error << result.trouble;
    EXPECT_EQ(result.last_asked, key.blob);
  }
}

TEST_F(KeyLogin, TakesCertificatesOfAnAgent) {
  server_->authorize("");
  const test::SshAgent agent;
  for (const std::string name : {"certified ed25519", "certified rsa-2048"}) {
    agent.add(make_certified(name));  // and its certificate
    const Result result = log_in(agent.socket(), {key_in(name + "-cert.pub")});
    EXPECT_EQ(result.libssh, SSH_AUTH_SUCCESS) << name << result.error << result.trouble;
  }
}

TEST_F(KeyLogin, TakesACertificateThatOnlyWeHave) {
  server_->authorize("");
  const test::SshAgent agent;
  const std::string file = make_certified("uncertified ed25519");
  std::filesystem::rename(file + "-cert.pub", directory().path("certificate"));
  agent.add(file);
  AgentKey certificate = key_in("certificate");
  EXPECT_EQ(log_in(agent.socket(), {certificate}).libssh, SSH_AUTH_ERROR);
  certificate.held_as = key_in("uncertified ed25519.pub").blob;
  const Result result = log_in(agent.socket(), {certificate});
  EXPECT_EQ(result.libssh, SSH_AUTH_SUCCESS) << result.error << result.trouble;
  EXPECT_EQ(result.last_asked, certificate.blob);
}

TEST_F(KeyLogin, OffersTheShownKeysOnly) {
  const test::SshAgent agent;
  for (const char* name : {"right ed25519", "wrong ed25519"}) agent.add(make(name));
  authorize("right ed25519");
  const AgentKey right = key_in("right ed25519.pub");
  const AgentKey wrong = key_in("wrong ed25519.pub");
  EXPECT_EQ(log_in(agent.socket(), {wrong, right}).libssh, SSH_AUTH_SUCCESS);
  EXPECT_EQ(log_in(agent.socket(), {wrong, right}).last_asked, right.blob);
  EXPECT_EQ(log_in(agent.socket(), {wrong}).libssh, SSH_AUTH_DENIED);
  EXPECT_EQ(log_in(agent.socket(), {wrong}).last_asked, "");
  EXPECT_EQ(log_in(agent.socket(), {}).libssh, SSH_AUTH_DENIED);
}

/// libssh says no more than that there was an error; its session goes on all the same.
TEST_F(KeyLogin, GoesOnWhenTheAgentDoesNotSign) {
  const test::SshAgent agent;
  SshSettings settings;
  settings.identity_files = {make("ed25519")};
  Identities identities(directory().path());
  const SshKey key = identities.find(settings).at(0)->key;
  authorize("ed25519");
  const AgentKey gone = key_in("ed25519.pub");
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    Agent real(executor, agent.socket());
    AgentProxy proxy(real);
    proxy.show(std::vector<AgentKey>(1, gone));
    const TestSession session(server_->port());
    ssh_set_agent_socket(session.get(), proxy.release_descriptor());
    int result = SSH_AUTH_AGAIN;
    co_await test::on_thread(executor, [&] { result = session.log_in_with_agent(); });
    EXPECT_EQ(result, SSH_AUTH_ERROR);
    EXPECT_EQ(ssh_get_status(session.get()) & (SSH_CLOSED | SSH_CLOSED_ERROR), 0);
    EXPECT_EQ(proxy.last_asked(), gone.blob);
    EXPECT_THAT(proxy.trouble(), HasSubstr("it does not sign with the key \"ed25519.pub\""));
    EXPECT_EQ(session.log_in_with(key), SSH_AUTH_SUCCESS);
  });
}

TEST_F(KeyLogin, FreesLibsshFromAnAgentThatIsStopped) {
  const test::SshAgent agent;
  agent.add(make("ed25519"));
  authorize("ed25519");
  agent.process().signal(SIGSTOP);
  const auto postponed = [] {  // sshd would take the key: now libssh has it signed
    const std::string log = server_->log();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find("Postponed publickey", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const std::size_t before = postponed();
  const Result result = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Result> {
    Agent real(executor, agent.socket());
    AgentProxy proxy(real);
    proxy.show(std::vector<AgentKey>(1, key_in("ed25519.pub")));
    const auto stop = [](asio::any_io_executor on, AgentProxy& stopped,
                         std::function<bool()> when) -> asio::awaitable<void> {
      EXPECT_TRUE(co_await test::eventually(on, when));
      stopped.stop();
    };
    asio::co_spawn(executor, stop(executor, proxy, [&] { return postponed() > before; }), asio::detached);
    Result ended = co_await log_in_with(executor, proxy);
    co_return ended;
  });
  EXPECT_EQ(result.libssh, SSH_AUTH_ERROR);
}

}  // namespace
}  // namespace podrun::ssh
