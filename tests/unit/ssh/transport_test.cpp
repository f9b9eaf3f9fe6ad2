// SPDX-License-Identifier: Apache-2.0
// Messages about a server that ends the connection before the login.
#include "podrun/ssh/transport/transport.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"

#include "support/run_coroutine.hpp"

namespace podrun::ssh {
namespace {

using namespace std::string_literals;

const std::string kBanner = "SSH-2.0-OpenSSH_9.2p1\r\n";

std::string number(std::size_t value) { return {'\0', '\0', '\0', static_cast<char>(value)}; }
std::string text(const std::string& bytes) { return number(bytes.size()) + bytes; }

/// RFC 4253 6: a packet in clear, of at most 255 bytes.
std::string packet(const std::string& payload) {
  std::size_t padding = 8 - (payload.size() + 5) % 8;
  if (padding < 4) padding += 8;
  return number(payload.size() + padding + 1) + static_cast<char>(padding) + payload +
         std::string(padding, '\0');
}

/// RFC 4253 11.1
std::string disconnect(const std::string& why) { return packet("\x01" + number(2) + text(why) + text("")); }

/// RFC 4253 7.1, with these algorithms for the key exchange, and others that podrun has.
std::string kexinit(const std::string& kex) {
  std::string lists = text(kex) + text("ssh-ed25519");
  for (const char* const list :
       {"aes128-ctr", "aes128-ctr", "hmac-sha2-256", "hmac-sha2-256", "none", "none"})
    lists += text(list);
  return packet("\x14" + std::string(16, 'c') + lists + text("") + text("") + std::string(5, '\0'));
}

/// The failure of connect() with a server that sends only these bytes; that ends with `end`, in a tunnel,
/// afterwards.
std::string failure_of(const std::string& bytes, const Transport::TunnelEnd& end = {}) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return "no socketpair";
  const std::string said =
      test::run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
        Transport transport(executor, ends[1], end);
        transport.set(SSH_OPTIONS_KEY_EXCHANGE, "curve25519-sha256");
        EXPECT_EQ(::write(ends[0], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        ::shutdown(ends[0], SHUT_WR);
        try {
          co_await transport.connect();
        } catch (const link::HostError& error) {
          co_return report::describe(error.failure());
        }
        co_return "connected";
      });
  ::close(ends[0]);
  return said;
}

TEST(TransportFailure, IsAStageAndAReasonForPeople) {
  EXPECT_EQ(failure_of(""), "SSH banner: closed by the server");
  EXPECT_EQ(failure_of(kBanner), "key exchange: closed by the server");
  EXPECT_EQ(failure_of(std::string(9000, 'x')), "SSH banner: the server does not speak SSH");
  EXPECT_EQ(failure_of(kBanner + std::string(100, 'x')), "key exchange: the server does not speak SSH");
  EXPECT_THAT(failure_of("SSH-1.5-old\r\n"),
              testing::StartsWith("key exchange: no version of SSH protocol usable"));
}

TEST(TransportFailure, HasWhatTheServerSaysInsteadOfItsVersion) {
  EXPECT_EQ(failure_of("Not allowed at this time\r\n"),
            "SSH banner: closed by the server: it says \"Not allowed at this time\"");
  EXPECT_EQ(failure_of("Exceeded MaxStartups\r\n"),
            "SSH banner: closed by the server: it says \"Exceeded MaxStartups\"");
  EXPECT_EQ(failure_of("\r\nGo \x1b[31m\r\nnow"),
            "SSH banner: closed by the server: it says \"Go \\x1b[31m\"");
  EXPECT_EQ(failure_of("SSH-2.0-Op"), "SSH banner: closed by the server");
  EXPECT_EQ(failure_of("HTTP/1.1 400 Bad Request\r\n\r\n"),
            "SSH banner: the server does not speak SSH (it says \"HTTP/1.1 400 Bad Request\")");
  EXPECT_EQ(failure_of("A greeting\r\n" + kBanner), "key exchange: closed by the server");
}

TEST(TransportFailure, HasTheWordsOfAServerBehindATunnelThatEnds) {
  using link::Failure;
  const auto exit = [] {
    return Failure{link::Stage::proxy_command, link::Cause::transport_ended, "exit 1"};
  };
  const auto jump = [] {
    return Failure{link::Stage::connection, link::Cause::reset, "connection reset by peer", {}, {}, {"gate"}};
  };
  EXPECT_EQ(failure_of("Not allowed at this time\r\n", exit),
            "SSH banner: closed by the server: it says \"Not allowed at this time\" (ProxyCommand: exit 1)");
  EXPECT_EQ(failure_of("", exit), "ProxyCommand: exit 1");
  EXPECT_EQ(failure_of("A greeting\r\n", jump), "jump host gate: connection: connection reset by peer");
}

TEST(TransportFailure, NamesTheAlgorithmsWhereNoneIsCommon) {
  const std::string before =
      "key exchange: no match for method kex algos: server [sntrup761x25519-sha512], podrun with libssh ";
  const std::string close = failure_of(kBanner + kexinit("sntrup761x25519-sha512"));
  EXPECT_THAT(close, testing::StartsWith(before));
  EXPECT_THAT(close, testing::EndsWith(" [curve25519-sha256] (mlkem and sntrup need libssh 0.12)"));
  EXPECT_EQ(failure_of(kBanner + kexinit("curve25519-sha256").substr(0, 100)),
            "key exchange: closed by the server");
}

TEST(TransportFailure, IsThatOfAHostWhereAsioRefusesTheDescriptor) {
  test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    EXPECT_THROW(Transport(executor, -1), link::HostError);
    co_return;
  });
}

/// libssh loses it where it has something to write itself at that moment.
std::string without_reason(const std::string& failure) {
  return failure.substr(0, failure.find(" server") + 7);
}

TEST(TransportFailure, IsTheServersWord) {
  EXPECT_EQ(without_reason(failure_of(kBanner + disconnect("Too many"))),
            "key exchange: closed by the server");
  const std::string nothing = failure_of(kBanner + packet("\x02" + text("")) + disconnect(""));
  EXPECT_EQ(nothing, "key exchange: closed by the server");
}

}  // namespace
}  // namespace podrun::ssh
