// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/hint.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace podrun::report {
namespace {

std::string hint(const std::vector<std::string>& words, const run::HostOutcome& outcome = link::Exited{1}) {
  return quoting_hint(words, {link::Exited{0}, outcome}).value_or("none");
}

TEST(QuotingHint, ShowsHowToQuoteTheWholeText) {
  EXPECT_EQ(hint({"git", "pull", "|", "tail", "-1"}),
            "podrun: with several words no shell is used, so \"|\" was passed literally; quote the whole "
            "command: podrun -- 'git pull | tail -1'");
}

TEST(QuotingHint, LeavesWordsThatWereQuotedQuoted) {
  EXPECT_TRUE(hint({"cat", "a b", ">", "c"}).ends_with(R"(podrun -- 'cat '\''a b'\'' > c')"))
      << hint({"cat", "a b", ">", "c"});
}

TEST(QuotingHint, KnowsWhatActsInAShell) {
  for (const char* word : {"|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1", "*", "*.txt", "/tmp/*"}) {
    EXPECT_NE(hint({"ls", word}).find(std::string("so \"") + word + "\" was passed literally"),
              std::string::npos)
        << word;
  }
  for (const char* word : {"a|b", "-n", "$HOME", "a * b", "SELECT * FROM t"}) {
    EXPECT_EQ(hint({"echo", word}), "none") << word;
  }
}

TEST(QuotingHint, KnowsThatOnlyAShellExpandsTheTilde) {
  EXPECT_TRUE(hint({"python", "~/train.py"}).ends_with("podrun -- 'python ~/train.py'"));
  EXPECT_EQ(hint({"echo", "a~b"}), "none");
}

TEST(QuotingHint, KnowsCommandsThatOnlyAShellHas) {
  EXPECT_NE(hint({"cd", "app"}).find("so \"cd\" was passed literally"), std::string::npos);
  EXPECT_EQ(hint({"echo", "cd"}), "none");
}

TEST(QuotingHint, IsGivenOnlyWhenTheCommandFailed) {
  EXPECT_EQ(hint({"ls", "*"}, link::Exited{0}), "none");
  EXPECT_EQ(hint({"ls", "*"}, run::Unreachable{}), "none");
  EXPECT_EQ(hint({"ls", "*"}, run::Stopped{}), "none");
  EXPECT_NE(hint({"ls", "*"}, link::Exited{2}), "none");
}

TEST(QuotingHint, IsNotGivenForOneWordWhichIsShellText) {
  EXPECT_EQ(hint({"false"}), "none");
  EXPECT_EQ(hint({"*"}), "none");
  EXPECT_EQ(hint({}), "none");
}

std::string terminal(const std::string& text, const run::HostOutcome& outcome = link::Exited{1}) {
  const std::vector<hosts::Host> hosts = {{.worker = 2, .name = "a"}, {.worker = 5, .name = "b"}};
  return terminal_hint({.what = supervisor::ShellText{text}}, hosts, {link::Exited{0}, outcome}, "podrun")
      .value_or("none");
}

TEST(TerminalHint, NamesTheFirstHostThatFailed) {
  EXPECT_EQ(terminal("top"), "podrun: top needs a terminal: podrun ssh 5");
  EXPECT_EQ(terminal_hint({.what = supervisor::Words{{"htop", "a b"}}}, {{.worker = 0}}, {link::Exited{1}},
                          "podrun -H a"),
            "podrun: htop needs a terminal: podrun -H a ssh 0");
}

TEST(TerminalHint, FindsTheProgramInALine) {
  for (const char* line :
       {"sudo htop", "TERM=xterm htop", "cd /tmp && htop -d 5", "cd /tmp; htop", "true\nhtop"})
    EXPECT_EQ(terminal(line), "podrun: htop needs a terminal: podrun ssh 5") << line;
  for (const char* line : {"echo htop", "./htop", "htop2", "", "ls 'a && htop'"})
    EXPECT_EQ(terminal(line), "none") << line;
}

TEST(TerminalHint, AllowsProgramsThatDoWithout) {
  for (const char* line :
       {"top -b -n 1", "top -bn1 | head", "vim -es -c q", "tmux new -d x", "emacs --batch"})
    EXPECT_EQ(terminal(line), "none") << line;
  EXPECT_NE(terminal("top -d1"), "none");
  EXPECT_NE(terminal("top -b; htop"), "none");
}

TEST(TerminalHint, ComesBeforeAProgramThatWouldWait) {
  const auto warning = [](const std::string& text) {
    return terminal_warning({.what = supervisor::ShellText{text}}, {{.worker = 2}}, "podrun")
        .value_or("none");
  };
  EXPECT_EQ(warning("vim a"), "podrun: vim needs a terminal: podrun ssh 2 (Ctrl-C twice stops it here)");
  for (const char* line : {"vim -es -c q a", "vi -c wq a", "top", "echo vim"})
    EXPECT_EQ(warning(line), "none") << line;
  EXPECT_EQ(terminal("vim", link::Exited{0}), "none");
  EXPECT_EQ(terminal("vim", run::Stopped{}), "podrun: vim needs a terminal: podrun ssh 5");
  EXPECT_EQ(terminal("top", run::Stopped{}), "none");
}

TEST(TerminalHint, IsGivenOnlyWhenTheProgramRanAndFailed) {
  EXPECT_EQ(terminal("top", link::Exited{0}), "none");
  EXPECT_EQ(terminal("top", link::Exited{127}), "none");
  EXPECT_EQ(terminal("top", run::Unreachable{}), "none");
}

TEST(TurnedAwayHint, IsForAServerThatClosesWithWordsInsteadOfItsVersion) {
  const auto hint = [](const link::Failure& failure) {
    return turned_away_hint({link::Exited{0}, run::Unreachable{failure}}).value_or("none");
  };
  const std::string said =
      hint({link::Stage::ssh_banner, link::Cause::closed, "it says \"Not allowed at this time\""});
  EXPECT_THAT(said, testing::HasSubstr("MaxStartups"));
  EXPECT_THAT(said, testing::HasSubstr("PerSourcePenalties"));
  EXPECT_EQ(hint({link::Stage::ssh_banner, link::Cause::closed}), "none");
  EXPECT_EQ(hint({link::Stage::key_exchange, link::Cause::closed, "Too many"}), "none");
}

TEST(StartUpHint, IsForASingleHostThatMayHaveStartedToo) {
  const link::Failure failure{.stage = link::Stage::starting_shell,
                              .cause = link::Cause::timed_out,
                              .retry = link::Retry::may_help,
                              .after = std::chrono::seconds(10)};
  EXPECT_TRUE(start_up_hint({{.name = "a"}}, {run::Lost{failure}}, RemoteBy::ssh));
  EXPECT_FALSE(start_up_hint({{.name = "a"}},
                             {run::Lost{{.stage = link::Stage::running,
                                         .cause = link::Cause::timed_out,
                                         .after = std::chrono::seconds(10)}}},
                             RemoteBy::ssh));
}

TEST(StartUpHint, IsForALoginThatLeadsNowhere) {
  const auto hint = [](const link::Failure& failure) {
    return start_up_hint({{.name = "a"}, {.name = "b"}}, {link::Exited{0}, run::Unreachable{failure}},
                         RemoteBy::ssh)
        .value_or("none");
  };
  EXPECT_EQ(
      hint({.stage = link::Stage::starting_shell,
            .cause = link::Cause::timed_out,
            .retry = link::Retry::may_help,
            .after = std::chrono::seconds(10)}),
      "podrun: the login to b worked, but /bin/sh never answered: perhaps a start-up file there (.bashrc) "
      "is slow (-t 30s waits longer), waits or runs another shell, or a forced command replaces /bin/sh");
  EXPECT_EQ(hint({link::Stage::starting_shell, link::Cause::closed}), "none");
  EXPECT_EQ(
      hint({.stage = link::Stage::ssh_banner, .cause = link::Cause::timed_out}),
      "podrun: a host that takes the connection and then says nothing is starting, hangs or has no memory "
      "left, or its port is not that of an SSH server");
  EXPECT_EQ(
      hint({.stage = link::Stage::login, .cause = link::Cause::timed_out, .after = std::chrono::seconds(10)}),
      "none");
}

TEST(StartUpHint, IsForALoginThatEndsBeforeTheScript) {
  const auto hint = [](const std::string& detail, RemoteBy remote = RemoteBy::ssh) {
    return start_up_hint({{.name = "a"}},
                         {run::Unreachable{{link::Stage::starting_shell, link::Cause::ended_early, detail}}},
                         remote)
        .value_or("none");
  };
  const std::string expected =
      "podrun: the login to a worked, but it ended before podrun's script: perhaps a start-up file there "
      "(.bashrc) reads standard input or exits, or a forced command replaces /bin/sh";
  EXPECT_EQ(hint("it ended before the command could start (exit 125)"), expected);
  EXPECT_EQ(hint("it ended before the command could start (exit 3)"), expected);
  EXPECT_EQ(hint("welcome (exit 0)"), expected);
  EXPECT_EQ(hint("This account is currently not available. (exit 1)"), "none");
  EXPECT_EQ(hint("it ended before the command could start (exit 1)", RemoteBy::via), "none");
}

TEST(StartUpHint, SpeaksOfNoLoginWhereThereWasNone) {
  const link::Failure failure{.stage = link::Stage::starting_shell,
                              .cause = link::Cause::timed_out,
                              .retry = link::Retry::may_help,
                              .after = std::chrono::seconds(10)};
  EXPECT_EQ(
      start_up_hint({{.name = "a"}}, {run::Unreachable{failure}}, RemoteBy::via),
      "podrun: /bin/sh on a never answered: start the command of --via by hand, with /bin/sh as its last "
      "word (it may wait for an answer or for resources, or not pass on standard input)");
  for (const RemoteBy remote : {RemoteBy::ssh, RemoteBy::via}) {
    EXPECT_EQ(
        start_up_hint({{.name = "a", .kind = hosts::HostKind::local}}, {run::Unreachable{failure}}, remote),
        "podrun: /bin/sh on this machine never answered: is it overloaded?");
  }
}

TEST(StartUpHint, SaysHowSudoNeedsNoPassword) {
  const auto hint = [](link::Cause cause, const std::string& detail) {
    return start_up_hint({{.name = "a"}}, {run::Unreachable{{link::Stage::starting_shell, cause, detail}}},
                         RemoteBy::ssh)
        .value_or("none");
  };
  const std::string expected =
      "podrun: --sudo cannot give a password (set NOPASSWD in sudoers there, or log in as root)";
  EXPECT_EQ(hint(link::Cause::ended_early, "sudo: a password is required (exit 1)"), expected);
  EXPECT_EQ(hint(link::Cause::ended_early, "sudo: interactive authentication is required (exit 1)"),
            expected);
  EXPECT_EQ(hint(link::Cause::ended_early, "sudo: unknown user root (exit 1)"), "none");
  EXPECT_EQ(hint(link::Cause::ended_early, "sh: 1: exec: sudo: not found (exit 127)"),
            "podrun: --sudo needs sudo there (leave it out where the login is root's)");
  EXPECT_EQ(hint(link::Cause::closed, "sudo: a password is required (exit 1)"), "none");
}

std::string path_hint(supervisor::Command command, int status) {
  const Here here{"/home/me",
                  [](const std::string& path) { return path == "setup.sh" || path == "./setup.sh"; }};
  return local_path_hint(command, {link::Exited{status}}, here).value_or("none");
}

TEST(BusyHint, IsForACleanUpThatALiveProcessForbids) {
  const auto hint = [](link::Stage stage, const std::string& detail) {
    return busy_hint({link::Exited{0}, run::Unreachable{{stage, link::Cause::other, detail}}}, "podrun -H a")
        .value_or("none");
  };
  EXPECT_NE(hint(link::Stage::clean_up, "pid 12 (python3) holds /dev/accel0"), "none");
  EXPECT_EQ(hint(link::Stage::clean_up, "pid 12 (python3) holds /dev/accel0 for the job j1"),
            "podrun: podrun -H a stop j1 frees the accelerators of that job");
  EXPECT_THAT(hint(link::Stage::clean_up, "pid 12 (python3) holds /dev/accel0 for the job $(id)"),
              testing::StartsWith("podrun: podrun -H a kill lists"));
  EXPECT_EQ(hint(link::Stage::clean_up, "/tmp/tpu_logs cannot be moved aside"), "none");
  EXPECT_EQ(hint(link::Stage::sending_file, "pid 12 (python3) holds /dev/accel0"), "none");
}

TEST(LocalPathHint, NamesTheScriptThatIsOnlyHere) {
  const std::string hint =
      "podrun: \"./setup.sh\" is a file of this machine; to run it on the hosts: podrun -s ./setup.sh";
  EXPECT_EQ(path_hint({supervisor::Words{{"./setup.sh", "--fast"}}}, 127), hint + " -- --fast");
  EXPECT_EQ(path_hint({supervisor::ShellText{"./setup.sh"}}, 127), hint);
  EXPECT_TRUE(path_hint({supervisor::Words{{"bash", "setup.sh"}}}, 127).ends_with("podrun -s setup.sh"));
  EXPECT_TRUE(path_hint({supervisor::ShellText{"sh setup.sh"}}, 2).ends_with("podrun -s setup.sh"));
}

TEST(LocalPathHint, IsNotGivenForAFileThatRan) {
  EXPECT_EQ(path_hint({supervisor::Words{{"./setup.sh", "--fast"}}}, 1), "none");
  EXPECT_EQ(path_hint({supervisor::Words{{"./other.sh", "--fast"}}}, 127), "none");
  EXPECT_EQ(path_hint({supervisor::Words{{"python", "setup.sh"}}}, 2), "none");
  EXPECT_EQ(path_hint({supervisor::ShellText{"cd app && ./setup.sh"}}, 127), "none");
}

TEST(LocalPathHint, NamesTheHomeOfThisMachine) {
  EXPECT_EQ(path_hint({supervisor::Words{{"/home/me/venv/bin/python", "-V"}}}, 127),
            "podrun: \"/home/me/venv/bin/python\" is in the home directory of this machine, whose shell "
            "expands ~; for that of each host quote the whole command: podrun -- '~/venv/bin/python -V'");
  EXPECT_EQ(path_hint({supervisor::Words{{"/home/me/x", "y"}}}, 1), "none");
  EXPECT_EQ(path_hint({supervisor::Words{{"/opt/x", "y"}}}, 127), "none");
}

std::string sudo_hint(const supervisor::Command& command) {
  return sudo_variable_hint(command).value_or("none");
}

TEST(SudoVariableHint, NamesTheVariableThatSudoDrops) {
  const std::string hint = "podrun: sudo drops LANG; podrun --sudo keeps it: podrun --sudo -- LANG=… COMMAND";
  EXPECT_EQ(sudo_hint({supervisor::Words{{"sudo", "apt-get"}}, {{"LANG", "C"}}}), hint);
  EXPECT_EQ(sudo_hint({supervisor::ShellText{"LANG=C sudo apt-get update"}, {}}), hint);
}

TEST(SudoVariableHint, IsNotGivenWhereNothingIsDropped) {
  EXPECT_EQ(sudo_hint({supervisor::Words{{"sudo", "apt-get"}}, {}}), "none");
  EXPECT_EQ(sudo_hint({supervisor::Words{{"sudo", "-E", "apt-get"}}, {{"LANG", "C"}}}), "none");
  EXPECT_EQ(sudo_hint({supervisor::Words{{"env", "sudo"}}, {{"LANG", "C"}}}), "none");
  EXPECT_EQ(sudo_hint({supervisor::ShellText{"LANG=C apt-get update"}, {}}), "none");
  EXPECT_EQ(sudo_hint({supervisor::ShellText{"sudo apt-get update"}, {}}), "none");
}

}  // namespace
}  // namespace podrun::report
