// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/terminal.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <future>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/output/full_screen.hpp"

#include "unit/output/pipe.hpp"

namespace podrun::output {
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

TEST_F(TerminalTest, KnowsWhetherAReaderIsLeft) {
  Pipe pipe;
  const Terminal terminal(pipe.write_fd(), pipe.write_fd());
  EXPECT_FALSE(terminal.reader_has_gone());
  const int other = ::dup(pipe.read_fd());
  pipe.close_read();
  EXPECT_FALSE(terminal.reader_has_gone()) << "the other one is left";
  ::close(other);
  EXPECT_TRUE(terminal.reader_has_gone());
  std::array<int, 2> sockets{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  const Terminal to_socket(sockets[0], sockets[0]);
  EXPECT_FALSE(to_socket.reader_has_gone());
  ::close(sockets[1]);
  EXPECT_TRUE(to_socket.reader_has_gone());
  ::close(sockets[0]);
  const Descriptor null(::open("/dev/null", O_WRONLY));
  EXPECT_FALSE(Terminal(null.get(), null.get()).reader_has_gone());
}

TEST_F(TerminalTest, SaysWhyAnAnswerCannotBeWrittenByItsStatus) {
  Pipe out;
  out.close_read();
  Terminal terminal(out.write_fd(), out.write_fd());
  EXPECT_EQ(print_answer("lost\n", terminal), 128 + SIGPIPE);
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

/// Standard output and standard error are a terminal of 20 columns that passes bytes as they are.
class StatusTerminalTest : public TerminalTest {
 protected:
  StatusTerminalTest() {
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ::grantpt(master_);
    ::unlockpt(master_);
    slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    set_modes(0);
    terminal_.emplace(slave_, slave_, [this] { return columns_; });
  }
  ~StatusTerminalTest() override {
    ::close(slave_);
    ::close(master_);
  }

  void set_modes(tcflag_t local) {
    termios settings{};
    ::tcgetattr(slave_, &settings);
    ::cfmakeraw(&settings);
    settings.c_lflag |= local;
    ::tcsetattr(slave_, TCSANOW, &settings);
  }
  /// The bytes that were written since the last call.
  std::string written() {
    static constexpr std::string_view kEnd = "<end>";
    EXPECT_EQ(::write(slave_, kEnd.data(), kEnd.size()), static_cast<ssize_t>(kEnd.size()));
    std::string bytes;
    while (!bytes.ends_with(kEnd)) {
      char buffer[4096];
      const ssize_t count = ::read(master_, buffer, sizeof buffer);
      if (count <= 0) return "unreadable";
      bytes.append(buffer, static_cast<std::size_t>(count));
    }
    return bytes.substr(0, bytes.size() - kEnd.size());
  }

  Terminal::TimePoint at(int ms) const { return begin_ + std::chrono::milliseconds(ms); }
  void say_status(const std::string& text) { terminal_->say_status({{text}}, std::nullopt); }
  void paint(int ms) { terminal_->paint_status(at(ms)); }
  /// Does what the output thread does.
  void print(int ms, std::string_view text) {
    terminal_->append(kOut, {text});
    if (!terminal_->holds_back(at(ms))) terminal_->flush();
    paint(ms);
  }
  static std::string painted(const std::string& text) { return "\r\x1b[?7l" + text + "\x1b[J\x1b[?7h\r"; }

  const Terminal::TimePoint begin_ = std::chrono::steady_clock::now();
  const std::string erased_ = "\r\x1b[J";
  std::size_t columns_ = 20;
  int master_ = -1;
  int slave_ = -1;
  std::optional<Terminal> terminal_;
};

TEST_F(StatusTerminalTest, ErasesTheStatusLineBeforeOutputAndPaintsItAfter) {
  say_status("2 running");
  paint(0);
  EXPECT_EQ(written(), painted("2 running"));
  print(100, "0: hello\n");
  EXPECT_EQ(written(), erased_ + "0: hello\n" + painted("2 running"));
}

TEST_F(StatusTerminalTest, KeepsItSteadyByHoldingOutputBackForAMoment) {
  say_status("2 running");
  paint(0);
  print(30, "0: one\n");
  EXPECT_EQ(written(), painted("2 running"));
  EXPECT_EQ(terminal_->due(), at(100));
  print(100, "0: two\n");
  EXPECT_EQ(written(), erased_ + "0: one\n0: two\n" + painted("2 running"));
  EXPECT_EQ(terminal_->due(), Terminal::TimePoint::max());
}

TEST_F(StatusTerminalTest, DoesNotTearALineThatIsUnfinished) {
  say_status("2 running");
  paint(0);
  print(100, "Downloading... ");
  EXPECT_EQ(written(), painted("2 running") + erased_ + "Downloading... ");
  say_status("1 running");
  paint(300);
  print(400, "50% ");
  EXPECT_EQ(written(), "50% ");
  print(500, "done\n");
  EXPECT_EQ(written(), "done\n" + painted("1 running"));
}

TEST_F(StatusTerminalTest, SaysOnALineOfItsOwn) {
  print(0, "no end");
  terminal_->say("podrun: exit 1");
  terminal_->say("podrun: that is all");
  terminal_->flush();
  EXPECT_EQ(written(), "no end\npodrun: exit 1\npodrun: that is all\n");
}

TEST_F(StatusTerminalTest, PaintsAtMostTenTimesASecondInAFlood) {
  say_status("2 running");
  for (int ms = 0; ms < 1000; ++ms) {
    terminal_->append(kOut, {"0: a line\n"});
    terminal_->flush();
    say_status(std::to_string(ms) + " running");
    paint(ms);
  }
  const std::string bytes = written();
  std::size_t paintings = 0;
  for (std::size_t i = bytes.find("running"); i != std::string::npos; i = bytes.find("running", i + 1))
    ++paintings;
  EXPECT_EQ(paintings, 10);
}

TEST_F(StatusTerminalTest, IsGoneAtOnceWhenThereIsNothingToSay) {
  say_status("2 running");
  paint(0);
  terminal_->say_status({}, std::nullopt);
  EXPECT_EQ(written(), painted("2 running") + erased_);
  print(10, "0: hello\n");
  paint(1000);
  EXPECT_EQ(written(), "0: hello\n");
}

TEST_F(StatusTerminalTest, LeavesTheTerminalAloneInTheBackground) {
  say_status("2 running");
  paint(0);
  columns_ = 0;
  print(100, "0: hello\n");
  say_status("1 running");
  paint(1000);
  EXPECT_EQ(written(), painted("2 running") + "0: hello\n");
  columns_ = 20;
  say_status("1 running");
  paint(1200);
  EXPECT_EQ(written(), painted("1 running"));
}

TEST_F(StatusTerminalTest, FollowsTheWidth) {
  say_status("28 running and so on");
  paint(0);
  EXPECT_EQ(written(), painted("28 running and so o")) << "the last column stays free";
  columns_ = 8;
  say_status("28 running and so on");
  paint(200);
  EXPECT_EQ(written(), painted("28 runn"));
}

TEST_F(StatusTerminalTest, CleansUpWhereALineWasTyped) {
  set_modes(ICANON | ECHO);
  say_status("2 running");
  paint(0);
  written();
  terminal_->lines_typed(1);
  paint(100);
  EXPECT_EQ(written(), "\x1b[1A" + erased_ + painted("2 running"));
}

TEST_F(StatusTerminalTest, ErasesNothingAboveWhereTypingIsNotShown) {
  set_modes(ICANON);
  say_status("2 running");
  paint(0);
  written();
  terminal_->lines_typed(1);
  EXPECT_EQ(written(), "");
}

TEST_F(StatusTerminalTest, CanBeWipedForGood) {
  say_status("2 running");
  paint(0);
  terminal_->wipe();
  EXPECT_EQ(written(), painted("2 running") + erased_);
  say_status("1 running");
  paint(1000);
  EXPECT_EQ(written(), "");
}

TEST_F(StatusTerminalTest, SaysALastLineAtOnceWhateverWasGathered) {
  print(0, "no end");
  terminal_->append(kOut, {"waits"});
  terminal_->say_at_once("podrun: exited");
  EXPECT_EQ(written(), "no end\npodrun: exited\n");
}

TEST_F(StatusTerminalTest, KeepsMessagesWhileAScreenIsShown) {
  terminal_->say("podrun: before");
  terminal_->show("<enter>", true);
  terminal_->say("podrun: one");
  terminal_->show("<frame>", true);
  terminal_->say("podrun: two");
  terminal_->flush();
  EXPECT_EQ(written(), "podrun: before\n<enter><frame>");
  terminal_->show("<leave>", false);
  terminal_->say("podrun: after");
  terminal_->flush();
  EXPECT_EQ(written(), "<leave>podrun: one\npodrun: two\npodrun: after\n");
}

TEST_F(StatusTerminalTest, KeepsTheLastMessagesAndCountsTheOthers) {
  terminal_->show("", true);
  for (int i = 0; i < 203; ++i) terminal_->say("podrun: " + std::to_string(i));
  terminal_->show("", false);
  terminal_->flush();
  const std::string bytes = written();
  EXPECT_TRUE(bytes.starts_with("podrun: 3 earlier messages left out\npodrun: 3\npodrun: 4\n")) << bytes;
  EXPECT_TRUE(bytes.ends_with("podrun: 202\n")) << bytes;
}

TEST_F(StatusTerminalTest, PaintsNoStatusLineOverAScreen) {
  say_status("2 running");
  paint(0);
  EXPECT_EQ(written(), painted("2 running"));
  terminal_->show("<enter>", true);
  terminal_->flush();
  say_status("1 running");
  paint(100);
  EXPECT_EQ(written(), erased_ + "<enter>");
  EXPECT_EQ(terminal_->due(), Terminal::TimePoint::max());
  terminal_->show("<leave>", false);
  terminal_->flush();
  say_status("1 running");
  paint(200);
  EXPECT_EQ(written(), "<leave>" + painted("1 running"));
}

TEST_F(StatusTerminalTest, LeavesAScreenOnce) {
  terminal_->show("<enter>", true);
  terminal_->show("<leave>", false);
  terminal_->show("<leave>", false);
  terminal_->flush();
  EXPECT_EQ(written(), "<enter><leave>");
}

TEST_F(StatusTerminalTest, LeavesTheScreenForAnExitAtOnce) {
  terminal_->show("<enter>", true);
  terminal_->flush();
  terminal_->wipe();
  terminal_->say_at_once("podrun: exited");
  terminal_->show("<frame>", true);
  terminal_->show("<leave>", false);
  terminal_->flush();
  EXPECT_EQ(written(), "<enter>" + std::string(FullScreen::kLeave) + "podrun: exited\n");
}

TEST_F(StatusTerminalTest, SaysAtOnceBelowAScreen) {
  terminal_->show("<enter>", true);
  terminal_->flush();
  terminal_->say_at_once("podrun: exited");
  EXPECT_EQ(written(), "<enter>" + std::string(FullScreen::kLeave) + "podrun: exited\n");
}

TEST_F(StatusTerminalTest, KeepsNoMessageThatGoesElsewhere) {
  Pipe err;
  Terminal terminal(slave_, err.write_fd(), [] { return 20; });
  terminal.show("<enter>", true);
  terminal.say("podrun: one");
  terminal.flush();
  EXPECT_EQ(err.read_some(), "podrun: one\n");
}

TEST_F(TerminalTest, SaysNothingAtOnceWhereThatWouldBlock) {
  Pipe full(O_NONBLOCK);
  while (::write(full.write_fd(), "x", 1) == 1) {
  }
  ASSERT_EQ(::fcntl(full.write_fd(), F_SETFL, 0), 0);
  Terminal terminal(full.write_fd(), full.write_fd());
  terminal.say_at_once("podrun: exited");
}

TEST_F(StatusTerminalTest, NeitherErasesNorHoldsBackForOutputThatGoesElsewhere) {
  Pipe out;
  Terminal terminal(out.write_fd(), slave_, [] { return 20; });
  terminal.say_status({{"2 running"}}, std::nullopt);
  terminal.paint_status(at(0));
  terminal.append(kOut, {"0: unfinished"});
  EXPECT_FALSE(terminal.holds_back(at(1)));
  terminal.flush();
  EXPECT_EQ(out.read_some(), "0: unfinished");
  terminal.say_status({{"1 running"}}, std::nullopt);
  terminal.paint_status(at(100));
  EXPECT_EQ(written(), painted("2 running") + painted("1 running"));
}

}  // namespace
}  // namespace podrun::output
