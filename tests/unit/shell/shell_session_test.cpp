// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/shell_session.hpp"

#include <unistd.h>

#include <gmock/gmock.h>

#include "support/run_shell.hpp"
#include "support/shell_link.hpp"
#include "support/temp_directory.hpp"
#include "unit/session/session_fixture.hpp"

namespace podrun::shell {
namespace {

using testing::HasSubstr;

/// Leads hosts of this number to a shell on this machine, the others to those of the fixture.
class ShellConnector final : public link::Connector {
 public:
  ShellConnector(asio::any_io_executor executor, std::vector<test::FakeHost>& hosts, std::size_t shells,
                 local::ProcessOptions child)
      : executor_(executor), shells_(shells), child_(std::move(child)), others_(std::move(executor), hosts) {}

  std::unique_ptr<link::Link> link(const hosts::Host& host) override {
    if (host.worker >= shells_) return others_.link(host);
    return std::make_unique<test::ShellLink>(executor_, std::vector<std::string>{"/bin/sh"}, child_);
  }

 private:
  asio::any_io_executor executor_;
  std::size_t shells_;
  local::ProcessOptions child_;
  test::FakeConnector others_;
};

class ShellSessionTest : public test::SessionTest {
 protected:
  /// Lines that are piped in. The exit status.
  int play(const std::string& lines, std::size_t hosts = 2, std::size_t shells = 2) {
    set_up(hosts);
    if (refused_) refuse(*refused_);
    spec_.make_connector = [this, shells](const asio::any_io_executor& executor) {
      return std::make_unique<ShellConnector>(
          executor, hosts_, shells,
          local::ProcessOptions{.environment = {"PATH=/usr/bin:/bin", "HOME=" + home_.path()},
                                .directory = home_.path()});
    };
    spec_.limits.grace = std::chrono::seconds(1);
    EXPECT_EQ(::write(in_.write_fd(), lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
    in_.close_write();
    shell_.input = in_.read_fd();
    return run_shell(shell_, spec_, probe_);
  }
  std::string shown() { return all_of(out_); }
  std::string said() { return all_of(err_); }

  std::optional<std::size_t> refused_;
  test::TempDirectory home_;
  test::Pipe in_;
  ShellSpec shell_;
};

TEST_F(ShellSessionTest, RunsEachLineOnEveryHost) {
  EXPECT_EQ(play("echo $PODRUN_RANK of $PODRUN_NUM_HOSTS\n"), 0);
  const std::string shown = this->shown();
  EXPECT_THAT(shown, HasSubstr("0: 0 of 2\n"));
  EXPECT_THAT(shown, HasSubstr("1: 1 of 2\n"));
}

TEST_F(ShellSessionTest, KeepsDirectoryAndVariablesFromLineToLine) {
  EXPECT_EQ(play("cd /usr; export A=\"x  y\"\necho \"$PWD $A\"\n", 1, 1), 0);
  EXPECT_THAT(shown(), HasSubstr("/usr x  y\n"));
}

TEST_F(ShellSessionTest, KeepsVariablesThatAreNotExported) {
  EXPECT_EQ(play("X=5; Y='a  b'\nX=$((X+1))\necho \"$X $Y\"; unset X\necho ${X-unset}\n", 1, 1), 0);
  const std::string shown = this->shown();
  EXPECT_THAT(shown, HasSubstr("6 a  b\n"));
  EXPECT_THAT(shown, HasSubstr("unset\n"));
}

TEST_F(ShellSessionTest, ReadsCommandsOfSeveralLines) {
  EXPECT_EQ(play("for i in 1 2\ndo\n\n# a comment\n  echo \"n$i\"\ndone\ncat <<E\n:workers 7\nE\n", 1, 1), 0);
  EXPECT_THAT(shown(), HasSubstr("n1\n0: n2\n0: :workers 7\n"));
}

TEST_F(ShellSessionTest, RunsNothingOfACommandThatTheEndOfTheInputCuts) {
  EXPECT_EQ(play("echo one\nfor i in 1 2; do\necho no\n", 1, 1), 2);
  EXPECT_EQ(shown(), "0: one\n");
  EXPECT_THAT(said(), HasSubstr("the input ended within a command"));
}

TEST_F(ShellSessionTest, EndsAScriptAtASyntaxError) {
  EXPECT_EQ(play("echo one\nif true\n  echo no\nfi\necho no\n", 1, 1), 2);
  EXPECT_EQ(shown(), "0: one\n");
  EXPECT_THAT(said(), HasSubstr("the shell ends here, after a syntax error"));
}

TEST_F(ShellSessionTest, StartsWhereItIsTold) {
  shell_.directory = "/usr";
  shell_.variables = {{"B", "1", false}};
  EXPECT_EQ(play("echo \"$PWD $B\"\n", 1, 1), 0);
  EXPECT_THAT(shown(), HasSubstr("/usr 1\n"));
}

TEST_F(ShellSessionTest, ExitsAsItsLastLineDoes) { EXPECT_EQ(play("false\nexit\necho no\n"), 1); }

TEST_F(ShellSessionTest, GoesOnAfterALineThatFailed) { EXPECT_EQ(play("exit 3\n\n# a comment\ntrue"), 0); }

TEST_F(ShellSessionTest, RunsTheNextLinesOnlyOnChosenWorkers) {
  EXPECT_EQ(play(":workers 1\necho only\n:workers all\necho both\n"), 0);
  const std::string shown = this->shown();
  EXPECT_THAT(shown, testing::Not(HasSubstr("0: only")));
  EXPECT_THAT(shown, HasSubstr("0: both\n"));
}

TEST_F(ShellSessionTest, ListsItsHosts) {
  EXPECT_EQ(play("cd /\n:hosts\n", 1, 1), 0);
  EXPECT_THAT(shown() + said(), HasSubstr("0 tpu-0  /\n"));
}

TEST_F(ShellSessionTest, ShowsItsCommands) {
  EXPECT_EQ(play(":help\n", 1, 1), 0);
  EXPECT_THAT(shown() + said(), HasSubstr(":workers SET"));
}

TEST_F(ShellSessionTest, HasNothingToConnectWhereAllAre) {
  EXPECT_EQ(play(":connect\n", 1, 1), 0);
  EXPECT_THAT(shown() + said(), HasSubstr("all hosts are connected"));
}

class ShellRefusal : public ShellSessionTest,
                     public testing::WithParamInterface<std::pair<std::string, std::string>> {};

TEST_P(ShellRefusal, EndsAScript) {
  EXPECT_EQ(play(GetParam().first + "\necho no\n", 1, 1), 2);
  EXPECT_THAT(said(), HasSubstr(GetParam().second));
  EXPECT_EQ(shown(), "");
}

INSTANTIATE_TEST_SUITE_P(OfLines, ShellRefusal,
                         testing::Values(std::pair(":frobnicate", "no such command"),
                                         std::pair(":workers", "for which hosts?"),
                                         std::pair(":workers 7", "no host has worker number \"7\""),
                                         std::pair(":workers x", ":workers: ")));

TEST_F(ShellSessionTest, RefusesALineThatIsTooLong) {
  ::fcntl(in_.write_fd(), F_SETPIPE_SZ, 1 << 20);
  EXPECT_EQ(play("echo " + std::string(300'000, 'x') + "\n", 1, 1), 2);
  EXPECT_THAT(said(), HasSubstr("is too long"));
}

TEST_F(ShellSessionTest, RunsNothingWhereAHostOfAScriptCannotBeReached) {
  refused_ = 1;
  EXPECT_EQ(play("echo no\n", 2, 1), 255);
  EXPECT_EQ(shown(), "");
  EXPECT_THAT(said(), HasSubstr("connection refused"));
}

}  // namespace
}  // namespace podrun::shell
