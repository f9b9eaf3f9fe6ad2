// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/terminal.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <string>

#include <gtest/gtest.h>

#include "unit/output/pipe.hpp"

namespace podrun {
namespace {

using test::Pipe;

constexpr StreamId kOut = StreamId::out;
constexpr StreamId kErr = StreamId::err;

class TerminalTest : public testing::Test {
 protected:
  TerminalTest() { std::signal(SIGPIPE, SIG_IGN); }
};

TEST_F(TerminalTest, KeepsTheOrderAcrossBothStreams) {
  Pipe both;
  Terminal terminal(both.write_fd(), both.write_fd());
  terminal.append(kOut, {"1 ", "2 "});
  terminal.append(kErr, {"3 "});
  terminal.append(kErr, {"4 "});
  terminal.append(kOut, {"5"});
  terminal.flush();
  EXPECT_EQ(both.read_some(), "1 2 3 4 5");
}

TEST_F(TerminalTest, WritesNeighboursAtOnce) {
  int datagrams[2];  // one for each write
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), 0);
  Terminal terminal(datagrams[1], datagrams[1]);
  for (const StreamId stream : {kOut, kOut, kErr, kErr, kOut}) terminal.append(stream, {"a", "b"});
  terminal.flush();
  char buffer[100];
  EXPECT_EQ(::read(datagrams[0], buffer, sizeof buffer), 4);
  EXPECT_EQ(::read(datagrams[0], buffer, sizeof buffer), 4);
  EXPECT_EQ(::read(datagrams[0], buffer, sizeof buffer), 2);
  ::close(datagrams[0]);
  ::close(datagrams[1]);
}

void expect_all_arrives_through(Pipe& pipe) {
  std::string expected;
  auto reader = std::async(std::launch::async, [&pipe] { return pipe.read_to_end(1000); });
  Terminal terminal(pipe.write_fd(), pipe.write_fd());
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = std::to_string(i);
    terminal.append(i % 7 == 0 ? kErr : kOut, {text, "\n"});
    expected += text + '\n';
  }
  terminal.flush();
  EXPECT_FALSE(terminal.error(kOut) || terminal.error(kErr));
  pipe.close_write();
  EXPECT_EQ(reader.get(), expected);
}

TEST_F(TerminalTest, WaitsForASlowReader) {
  Pipe pipe;
  expect_all_arrives_through(pipe);
}

TEST_F(TerminalTest, WaitsForASlowReaderWhereOthersMadeThePipeNonBlocking) {
  Pipe pipe(O_NONBLOCK);
  ASSERT_EQ(::fcntl(pipe.read_fd(), F_SETFL, 0), 0);
  expect_all_arrives_through(pipe);
}

TEST_F(TerminalTest, WritesByItselfWhenMuchIsGathered) {
  Pipe pipe;
  auto reader = std::async(std::launch::async, [&pipe] { return pipe.read_to_end(); });
  Terminal terminal(pipe.write_fd(), pipe.write_fd());
  terminal.append(kOut, {std::string(Terminal::kBuffer, 'x')});
  pipe.close_write();
  EXPECT_EQ(reader.get().size(), Terminal::kBuffer);
}

TEST_F(TerminalTest, KeepsTheFirstErrorOfAStreamAndDiscardsTheRest) {
  Pipe out;
  Pipe err;
  out.close_read();
  Terminal terminal(out.write_fd(), err.write_fd());
  terminal.append(kOut, {"lost"});
  terminal.append(kErr, {"kept, "});
  terminal.flush();
  terminal.append(kOut, {"lost"});
  terminal.append(kErr, {"kept"});
  terminal.flush();
  EXPECT_EQ(terminal.error(kOut), std::errc::broken_pipe);
  EXPECT_FALSE(terminal.error(kErr));
  EXPECT_EQ(err.read_some(), "kept, kept");
}

TEST_F(TerminalTest, ReportsAFullDisk) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  Terminal terminal(full, full);
  terminal.append(kOut, {"text"});
  terminal.flush();
  EXPECT_EQ(terminal.error(kOut), std::errc::no_space_on_device);
  ::close(full);
}

TEST_F(TerminalTest, TellsATerminalFromAPipe) {
  Pipe pipe;
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  const Terminal terminal(master, pipe.write_fd());
  EXPECT_TRUE(terminal.is_terminal(kOut));
  EXPECT_FALSE(terminal.is_terminal(kErr));
  ::close(master);
}

}  // namespace
}  // namespace podrun
