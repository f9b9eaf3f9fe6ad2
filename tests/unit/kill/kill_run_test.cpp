// SPDX-License-Identifier: Apache-2.0
#include "podrun/kill/kill_run.hpp"

#include <optional>

#include <gmock/gmock.h>

#include "unit/session/session_fixture.hpp"

namespace podrun::kill {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class KillRunTest : public test::SessionTest {
 protected:
  /// What the scripts print on a host whose /dev/accel0 these processes have open, by pid.
  void holds(std::size_t host, const std::vector<int>& pids, const std::string& more = "") {
    std::string text = "podrun-holders @RUN\nuid 1000\nsees_all\ndevice /dev/accel0\n" + more;
    for (const int pid : pids) {
      text += fmt::format(
          "process {0} 77 1000 9 S python3\nuser {0} ann\ncommand {0} python3 train.py\nholds {0} "
          "/dev/accel0\n",
          pid);
    }
    prints(host, text + "end\n");
  }
  const std::string& text_of_go(std::size_t host) const { return hosts_[host].supervisor->command(); }
};

TEST_F(KillRunTest, StopsOnAllHostsWhatItHasListed) {
  set_up(2);
  holds(0, {12, 13});
  holds(1, {});
  KillRun kill(session(Connections::kept), {});
  kill.list(false);
  ASSERT_THAT(kill.before(), SizeIs(2));
  EXPECT_TRUE(kill.has_victims());
  EXPECT_THAT(kill.before()[0].choices, SizeIs(2));
  holds(0, {}, "killed 13 python3\n");
  kill.stop();
  EXPECT_NE(text_of_go(0).find("PODRUN_VICTIMS=' 12:77 13:77'"), std::string::npos);
  EXPECT_THAT(kill.after(), SizeIs(2));
  EXPECT_EQ(kill.after()[0].list.killed.front().pid, 13U);
  EXPECT_EQ(kill.status(), 0);
  EXPECT_EQ(hosts_[0].logins, 1U);
}

TEST_F(KillRunTest, IsBusyWhereAProcessStays) {
  set_up(1);
  holds(0, {12});
  KillRun kill(session(Connections::kept), {});
  kill.list(false);
  kill.stop();
  EXPECT_EQ(kill.status(), 1);
}

TEST_F(KillRunTest, SparesWhatTheRequestDoesNotMean) {
  set_up(1);
  holds(0, {12});
  KillRun kill(session(Connections::kept), {.request = {.match = "serve.py"}});
  kill.list(false);
  EXPECT_FALSE(kill.has_victims());
  EXPECT_EQ(kill.before()[0].choices[0].why_kept, "not matched by --match");
}

TEST_F(KillRunTest, NamesHostsWhoseListIsCutOffAndThoseThatCannotBeReached) {
  set_up(3);
  holds(0, {12});
  prints(1, "podrun-holders @RUN\nuid 1000\n");
  refuse(2);
  std::optional<KillRun> kill(std::in_place, session(Connections::kept), KillPlan{});
  kill->list(false);
  EXPECT_THAT(kill->before(), SizeIs(1));
  holds(0, {});
  kill->stop();
  EXPECT_EQ(kill->after()[0].host, 0U);
  EXPECT_EQ(kill->status(), 255);
  EXPECT_TRUE(std::holds_alternative<run::Unreachable>(kill->outcomes()[2]));
  kill.reset();
  session_.reset();
  EXPECT_THAT(all_of(err_), HasSubstr("podrun: [1] sent no whole list of processes\n"));
}

TEST_F(KillRunTest, DoesNotAskWithoutATerminalAndPrintsWhatItDid) {
  set_up(1);
  holds(0, {});
  EXPECT_EQ(run_kill(session(Connections::kept), {}, {}), 0);
  session_.reset();
  EXPECT_THAT(all_of(out_), HasSubstr("no process to stop on 1 host"));
}

}  // namespace
}  // namespace podrun::kill
