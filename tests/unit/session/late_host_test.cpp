// SPDX-License-Identifier: Apache-2.0
// Answers that are there while another host hangs.
#include <pty.h>

#include <gmock/gmock.h>

#include "unit/session/session_fixture.hpp"

namespace podrun::session {
namespace {

using testing::ElementsAre;

/// Three hosts of which the last one hangs.
class LateHostTest : public test::SessionTest {
 protected:
  LateHostTest() {
    set_up(3);
    prints(0, "here");
    prints(1, "here");
    hosts_[2].connects = false;
    spec_.limits.connect_timeout = std::chrono::seconds(1);
    spec_.limits.retries = 2;
  }
  RunSpec question() const {
    RunSpec run = quick_answers(spec_, {"set -- true", {}}, std::chrono::seconds(60));
    run.plan.limits.late_after = std::chrono::milliseconds(10);
    return run;
  }
};

TEST_F(LateHostTest, IsNamedOnceTheOthersHaveAnsweredAndHasOneAttempt) {
  const Answers answers = ask_hosts(session(), question(), [](const Answers&) { return "so far\n"; });
  EXPECT_THAT(answers.texts, ElementsAre("here\n", "here\n", ""));
  EXPECT_EQ(answers.result.status, 255);
  EXPECT_EQ(answers.shown, "") << "a pipe gets complete answers only";
  session_.reset();
  EXPECT_EQ(all_of(out_), "");
  EXPECT_EQ(all_of(err_),
            "podrun: [2] does not answer yet | Ctrl-C goes on without it\n"
            "podrun: 2 ok | 1 unreachable\n"
            "podrun: unreachable: [2] tpu-2: connecting: timed out after 1 s\n");
}

TEST_F(LateHostTest, HoldsNoAnswerBackFromATerminal) {
  int master = -1;
  int terminal = -1;
  ASSERT_EQ(::openpty(&master, &terminal, nullptr, nullptr, nullptr), 0);
  spec_.terminal = std::make_shared<output::Terminal>(terminal, err_.write_fd());
  std::vector<Answers> shown;
  const Answers answers = ask_hosts(session(), question(), [&](const Answers& so_far) {
    shown.push_back(so_far);
    return "so far\n";
  });
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_THAT(shown[0].texts, ElementsAre("here\n", "here\n", ""));
  EXPECT_TRUE(std::holds_alternative<run::NotStarted>(shown[0].result.outcomes[2]));
  EXPECT_EQ(answers.shown, "so far\n");
  EXPECT_EQ(show_answers(*session_, answers, "so far\n"), 0);
  EXPECT_EQ(show_answers(*session_, answers, "all\n"), 0);
  session_.reset();
  std::string text;
  while (!text.ends_with("all\r\n")) {
    char more[100];
    const ssize_t size = ::read(master, more, sizeof more);
    ASSERT_GT(size, 0);
    text.append(more, static_cast<std::size_t>(size));
  }
  EXPECT_EQ(text, "so far\r\nall\r\n");
  ::close(master);
  ::close(terminal);
}

TEST_F(LateHostTest, HasAllAttemptsThatTheUserHasChosen) {
  spec_.attempts_chosen = true;
  EXPECT_TRUE(question().plan.limits.retries_timeouts);
  spec_.attempts_chosen = false;
  EXPECT_FALSE(question().plan.limits.retries_timeouts);
}

}  // namespace
}  // namespace podrun::session
