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

/// The failure of connect() with a server that reads podrun's version and sends only these bytes.
std::string failure_of(const std::string& bytes) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return "no socketpair";
  const std::string said =
      test::run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
        Transport transport(executor, ends[1]);
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
  EXPECT_EQ(failure_of("Exceeded MaxStartups\r\n"), "SSH banner: closed by the server");
  EXPECT_EQ(failure_of(kBanner), "key exchange: closed by the server");
  EXPECT_EQ(failure_of(std::string(9000, 'x')), "SSH banner: the server does not speak SSH");
  EXPECT_EQ(failure_of(kBanner + std::string(100, 'x')), "key exchange: the server does not speak SSH");
  EXPECT_THAT(failure_of("SSH-1.5-old\r\n"),
              testing::StartsWith("key exchange: no version of SSH protocol usable"));
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
