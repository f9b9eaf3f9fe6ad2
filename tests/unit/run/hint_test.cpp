// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/hint.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace podrun {
namespace {

std::string hint(const std::vector<std::string>& words, const HostOutcome& outcome = Exited{1}) {
  return quoting_hint(words, {Exited{0}, outcome}).value_or("none");
}

TEST(QuotingHint, ShowsHowToQuoteTheWholeText) {
  EXPECT_EQ(hint({"git", "pull", "|", "tail", "-1"}),
            "podrun: several words run without a shell, so \"|\" did not act; for shell text quote it all: "
            "podrun -- 'git pull | tail -1'");
}

TEST(QuotingHint, LeavesWordsThatWereQuotedQuoted) {
  EXPECT_TRUE(hint({"cat", "a b", ">", "c"}).ends_with(R"(podrun -- 'cat '\''a b'\'' > c')"))
      << hint({"cat", "a b", ">", "c"});
}

TEST(QuotingHint, KnowsWhatActsInAShell) {
  for (const char* word : {"|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1", "*", "*.txt", "/tmp/*"}) {
    EXPECT_NE(hint({"ls", word}).find(std::string("so \"") + word + "\" did not act"), std::string::npos)
        << word;
  }
  for (const char* word : {"a|b", "-n", "$HOME", "a * b", "SELECT * FROM t"}) {
    EXPECT_EQ(hint({"echo", word}), "none") << word;
  }
}

TEST(QuotingHint, KnowsCommandsThatOnlyAShellHas) {
  EXPECT_NE(hint({"cd", "app"}).find("so \"cd\" did not act"), std::string::npos);
  EXPECT_EQ(hint({"echo", "cd"}), "none");
}

TEST(QuotingHint, IsGivenOnlyWhenTheCommandFailed) {
  EXPECT_EQ(hint({"ls", "*"}, Exited{0}), "none");
  EXPECT_EQ(hint({"ls", "*"}, Unreachable{}), "none");
  EXPECT_EQ(hint({"ls", "*"}, Stopped{}), "none");
  EXPECT_NE(hint({"ls", "*"}, Exited{2}), "none");
}

TEST(QuotingHint, IsNotGivenForOneWordWhichIsShellText) {
  EXPECT_EQ(hint({"false"}), "none");
  EXPECT_EQ(hint({"*"}), "none");
  EXPECT_EQ(hint({}), "none");
}

TEST(StartUpHint, IsForASingleHostThatMayHaveStartedToo) {
  const Failure failure{"starting /bin/sh", "timed out after 10 s", Retry::may_help};
  EXPECT_TRUE(start_up_hint({{.name = "a"}}, {Lost{failure}}, RemoteBy::ssh));
  EXPECT_FALSE(start_up_hint({{.name = "a"}}, {Lost{{"running", "timed out after 10 s"}}}, RemoteBy::ssh));
}

TEST(StartUpHint, IsForALoginThatLeadsNowhere) {
  const auto hint = [](const Failure& failure) {
    return start_up_hint({{.name = "a"}, {.name = "b"}}, {Exited{0}, Unreachable{failure}}, RemoteBy::ssh)
        .value_or("none");
  };
  EXPECT_EQ(
      hint({"starting /bin/sh", "timed out after 10 s", Retry::may_help}),
      "podrun: the login to b worked, but /bin/sh never answered: perhaps a start-up file there (.bashrc) "
      "waits or runs another shell, or a forced command does not run ours");
  EXPECT_EQ(hint({"starting /bin/sh", "closed by the server"}), "none");
  EXPECT_EQ(hint({"login", "timed out after 10 s"}), "none");
}

TEST(StartUpHint, SpeaksOfNoLoginWhereThereWasNone) {
  const Failure failure{"starting /bin/sh", "timed out after 10 s", Retry::may_help};
  EXPECT_EQ(
      start_up_hint({{.name = "a"}}, {Unreachable{failure}}, RemoteBy::via),
      "podrun: /bin/sh on a never answered: start the command of --via by hand, with /bin/sh as its last "
      "word (it may wait for an answer or for resources, or pass no standard input on)");
  for (const RemoteBy remote : {RemoteBy::ssh, RemoteBy::via}) {
    EXPECT_EQ(start_up_hint({{.name = "a", .kind = HostKind::local}}, {Unreachable{failure}}, remote),
              "podrun: /bin/sh on this machine never answered: is it overloaded?");
  }
}

}  // namespace
}  // namespace podrun
