// SPDX-License-Identifier: Apache-2.0
// A program on a terminal of its own that takes the screen and is ended in every way.
#include "podrun/output/full_screen.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include <gmock/gmock.h>

#include "podrun/base/error.hpp"

#include "unit/output/program_on_terminal.hpp"

namespace podrun::output {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

using test::End;
using test::kLimitSeconds;
using test::put;

const std::string kLeave(FullScreen::kLeave);

class FullScreenTest : public test::ProgramOnTerminalTest {};

TEST_F(FullScreenTest, TakesTheTerminalAndGivesItBack) {
  start([] {
    FullScreen screen("xterm");
    put(screen.enter());
    put(screen.enter());
    put(screen.paint({"hello"}, screen.size()));
    put(screen.leave());
    put(screen.leave());
    put(screen.paint({"hello"}, screen.size()));
  });
  const std::string bytes = bytes_to_end();
  EXPECT_THAT(bytes, AllOf(StartsWith("\x1b[?1049h"), HasSubstr("hello"), EndsWith(kLeave)));
  EXPECT_EQ(bytes.find("hello"), bytes.rfind("hello"));
  EXPECT_EQ(bytes.find(kLeave), bytes.size() - kLeave.size()) << "once";
  EXPECT_TRUE(has_its_modes());
  const End ended = end();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.others, 0);
}

class EndedByASignal : public FullScreenTest, public testing::WithParamInterface<int> {};

TEST_P(EndedByASignal, GivesTheTerminalBackAndLeavesNoProcess) {
  start([signal = GetParam()] {
    FullScreen screen("xterm");
    put(screen.enter() + "shown");
    ::raise(signal);
  });
  EXPECT_THAT(bytes_to_end(), EndsWith("shown" + kLeave));
  EXPECT_TRUE(has_its_modes());
  const End ended = end();
  EXPECT_TRUE(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == GetParam()) << ended.status;
  EXPECT_EQ(ended.others, 1);
}

INSTANTIATE_TEST_SUITE_P(FullScreen, EndedByASignal, testing::Values(SIGKILL, SIGSEGV, SIGTERM, SIGHUP));

TEST_F(FullScreenTest, ChangesNothingWherePodrunIsKilledWithoutTheScreen) {
  start([] {
    FullScreen screen("xterm");
    screen.enter();
    screen.leave();
    put("of the shell");
    ::raise(SIGKILL);
  });
  EXPECT_EQ(bytes_to_end(), "of the shell");
  EXPECT_TRUE(has_its_modes());
  EXPECT_EQ(end().others, 0);
}

TEST_F(FullScreenTest, IsGuardedEachTimeItIsEntered) {
  start([] {
    FullScreen screen("xterm");
    screen.enter();
    screen.leave();
    put(screen.enter() + "again");
    ::raise(SIGKILL);
  });
  EXPECT_THAT(bytes_to_end(), EndsWith("again" + kLeave));
  EXPECT_TRUE(has_its_modes());
}

TEST_F(FullScreenTest, LeavesModesAloneThatAnotherProgramHasSetSince) {
  start([] {
    FullScreen screen("xterm");
    put(screen.enter());
    termios modes{};
    ::tcgetattr(STDOUT_FILENO, &modes);
    modes.c_cc[VLNEXT] = _POSIX_VDISABLE;
    ::tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
    ::raise(SIGKILL);
  });
  EXPECT_THAT(bytes_to_end(), EndsWith(kLeave));
  EXPECT_FALSE(has_its_modes());
}

/// Prints the next typed bytes.
void put_typed(FullScreen& screen) {
  pollfd entry{screen.descriptor(), POLLIN, 0};
  ::poll(&entry, 1, kLimitSeconds * 1000);
  put("<" + screen.read_keys() + ">");
}

TEST_F(FullScreenTest, ReadsKeysOneByOneWithoutEcho) {
  start([] {
    FullScreen screen("xterm");
    put(screen.enter() + "<ready>");
    put_typed(screen);
    put_typed(screen);
    put(screen.read_keys() + "<ready>");
    ::pause();
  });
  EXPECT_THAT(bytes_to("<ready>"), StartsWith("\x1b[?1049h"));
  type("q");
  EXPECT_EQ(bytes_to("<q>"), "");
  type("\r");
  EXPECT_EQ(bytes_to("<\r>"), "");
  EXPECT_EQ(bytes_to("<ready>"), "");
  type("\x03");
  EXPECT_EQ(bytes_to_end(), kLeave);
  EXPECT_EQ(WTERMSIG(end().status), SIGINT);
}

TEST_F(FullScreenTest, PaintsTheWholeScreenAgainAfterCtrlL) {
  start([] {
    FullScreen screen("xterm");
    screen.enter();
    screen.paint({"hello"}, screen.size());
    put("<ready>");
    put_typed(screen);
    put(screen.paint({"hello"}, screen.size()));
  });
  EXPECT_EQ(bytes_to("<ready>"), "");
  type("\x0c");
  EXPECT_THAT(bytes_to_end(), HasSubstr("hello"));
}

TEST_F(FullScreenTest, TellsItsSize) {
  start([] {
    const ScreenSize size = FullScreen("xterm").size();
    put(std::to_string(size.columns) + "x" + std::to_string(size.rows));
  });
  EXPECT_EQ(bytes_to_end(), "100x30");
}

void put_refusal(const std::string& term) {
  try {
    const FullScreen screen(term);
  } catch (const UsageError& error) {
    if (::write(STDERR_FILENO, error.what(), std::strlen(error.what())) < 0) ::_exit(1);
  }
}

TEST_F(FullScreenTest, RefusesATerminalThatCannotShowIt) {
  start([] {
    put_refusal("dumb");
    put_refusal("");
  });
  EXPECT_EQ(
      bytes_to_end(),
      "top: TERM=dumb: such a terminal cannot show a full screen (podrun top --once prints the figures "
      "once)top: TERM=: such a terminal cannot show a full screen (podrun top --once prints the figures "
      "once)");
}

TEST_F(FullScreenTest, RefusesStandardOutputThatIsNotATerminal) {
  start([] {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    put_refusal("xterm");
  });
  EXPECT_THAT(bytes_to_end(), AllOf(HasSubstr("standard output"), HasSubstr("--once")));
}

TEST_F(FullScreenTest, NeedsATerminalForKeys) {
  start([] {
    ::ioctl(STDIN_FILENO, TIOCNOTTY);
    put_refusal("xterm");
  });
  EXPECT_THAT(bytes_to_end(), AllOf(HasSubstr("no terminal to read keys from"), HasSubstr("--once")));
}

}  // namespace
}  // namespace podrun::output
