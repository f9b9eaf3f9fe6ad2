// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/job_words.hpp"

#include <gmock/gmock.h>

namespace podrun::jobs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class JobWordsTest : public testing::Test {
 protected:
  JobWordsTest() {
    for (std::size_t host = 0; host < 4; ++host) {
      hosts_.push_back({.worker = host, .name = "tpu-" + std::to_string(host)});
      listed_.push_back({host, {.is_complete = true}});
    }
  }

  std::vector<std::string> lines_with(const Job& kept) {
    return describe_jobs({kept}, hosts_, listed_, " - ", Heading::none, 0);
  }
  void add(std::size_t host, Job job) { listed_[host].list.jobs.push_back(std::move(job)); }
  std::vector<std::string> lines(Heading heading = Heading::none, std::size_t columns = 0) {
    return describe_jobs({}, hosts_, listed_, " - ", heading, columns);
  }

  std::vector<hosts::Host> hosts_;
  std::vector<ListedJobs> listed_;
};

TEST_F(JobWordsTest, NamesTheHostThatIsSilent) {
  for (std::size_t host = 0; host < 4; ++host)
    add(host, {.name = "train", .state = JobState::running, .output = host == 2 ? 90s : 4s, .command = "x"});
  EXPECT_THAT(lines(), ElementsAre("train  running [0-3]  output 4 s ago, [2] 1 min ago  x"));
  const std::vector<hosts::Host> silent = silent_hosts(hosts_, listed_);
  ASSERT_EQ(silent.size(), 1U);
  EXPECT_EQ(silent.front().worker, 2U);
  listed_[2].list.jobs.front().output.reset();
  for (ListedJobs& each : listed_) each.list.jobs.front().age = 2s;
  EXPECT_THAT(lines(), ElementsAre("train  running [0-3]  2 s ago  output 4 s ago  x"));
  for (ListedJobs& each : listed_) each.list.jobs.front().age = 1h;
  EXPECT_THAT(lines(), ElementsAre("train  running [0-3]  1 h ago  output 4 s ago, [2] never  x"));
  listed_[2].list.jobs.front().output = 8s;
  EXPECT_THAT(lines(), ElementsAre("train  running [0-3]  1 h ago  output 8 s ago  x"));
  EXPECT_TRUE(silent_hosts(hosts_, listed_).empty());
  for (const std::size_t host : {0u, 1u, 3u}) listed_[host].list.jobs.front().output.reset();
  EXPECT_THAT(lines(), ElementsAre("train  running [0-3]  1 h ago  output 8 s ago  x"))
      << "one prints for all";
}

TEST_F(JobWordsTest, NamesJobsThatThisMachineKeepsFirst) {
  add(0, {.name = "day", .state = JobState::running, .command = "sleep"});
  Job kept{.name = "train", .state = JobState::running, .is_kept_here = true, .command = "python train.py"};
  EXPECT_THAT(lines_with(kept), ElementsAre("train  being started, kept here    python train.py",
                                            "day    running [0] - not on [1-3]  sleep"));
  kept.tries = 2;
  kept.age = 7200s;
  kept.output = 3s;
  kept.doing = "4 running - slowest [3] silent 2 min";
  EXPECT_THAT(describe_jobs({kept}, hosts_, {}, " - ", Heading::shown, 60),
              ElementsAre("NAME   STATE", "train  4 running - slowest [3] silent 2 min, try 2, kept here",
                          "    2 h ago  output 3 s ago  python train.py"));
  kept.age.reset();
  kept.output.reset();
  kept.doing = "4 running";
  EXPECT_EQ(lines_with(kept).front(), "train  4 running, try 2, kept here  python train.py");
  kept.state = JobState::ended;
  kept.status = 3;
  EXPECT_EQ(lines_with(kept).front(), "train  exit 3, kept here           python train.py");
}

TEST_F(JobWordsTest, FoldsHostsByState) {
  for (std::size_t host = 0; host < 3; ++host) {
    add(host,
        {.name = "train", .state = JobState::running, .age = 3h, .output = 4s, .command = "python train.py"});
  }
  add(3, {.name = "train", .state = JobState::ended, .status = 1, .age = 3h, .ended = 60s});
  EXPECT_THAT(lines(Heading::shown),
              ElementsAre("NAME   STATE                       STARTED  LAST            COMMAND",
                          "train  running [0-2] - exit 1 [3]  3 h ago  output 4 s ago  python train.py"));
}

TEST_F(JobWordsTest, ShowsWhenJobsEnded) {
  add(0, {.name = "a", .state = JobState::ended, .status = 0, .age = 120s, .ended = 60s});
  add(1, {.name = "a", .state = JobState::ended, .status = 137, .is_open = true, .age = 120s, .ended = 5s});
  add(2, {.name = "b", .state = JobState::ended, .status = 143, .is_stopped = true});
  add(3, {.name = "b", .state = JobState::rebooted});
  EXPECT_THAT(
      lines(),
      ElementsAre(
          "a  exit 0 [0] - exit 137 (SIGKILL), output open [1] - not on [2,3]  2 min ago  ended 5 s to 1 "
          "min ago",
          "b  stopped [2] - lost (rebooted) [3] - not on [0,1]"));
}

TEST_F(JobWordsTest, NamesJobsOfAnotherList) {
  add(0, {.name = "train", .state = JobState::running});
  add(1, {.name = "train", .place = "2-tpu-1", .state = JobState::running});
  EXPECT_THAT(lines(), ElementsAre("train  running [0] - running, of another list [1] - not on [2,3]"));
  EXPECT_THAT(describe_strays("train", hosts_, listed_),
              ElementsAre("[1] has train as worker 2 of another list (2-tpu-1)"));
  add(2, {.name = "train", .place = "3-tpu-2", .state = JobState::running});
  EXPECT_THAT(describe_strays("train", hosts_, listed_),
              ElementsAre("[1,2] have train: [1] as worker 2 of another list (2-tpu-1)"));
  EXPECT_THAT(describe_strays("eval", hosts_, listed_), ElementsAre());
}

TEST_F(JobWordsTest, NamesTheMachineOfAJobElsewhere) {
  add(0, {.name = "train", .state = JobState::elsewhere, .machine = "login1"});
  EXPECT_THAT(lines(), ElementsAre("train  on login1 [0] - not on [1-3]"));
  EXPECT_THAT(
      describe_strays("train", hosts_, listed_),
      ElementsAre(
          "train is on login1, another machine with this home directory (podrun on login1 stops it; if "
          "that machine is gone, remove ~/.podrun/jobs/train/0-tpu-0)"));
}

TEST_F(JobWordsTest, NamesHostsThatLackAJob) {
  add(1, {.name = "a", .state = JobState::running});
  for (std::size_t host = 0; host < 4; ++host) add(host, {.name = "b", .state = JobState::running});
  listed_.erase(listed_.begin() + 3);  // it has not answered
  EXPECT_THAT(lines(), ElementsAre("a  running [1] - not on [0,2]", "b  running [0-2]"));
}

TEST_F(JobWordsTest, CallsAJobThatMustNotStartStopped) {
  add(0, {.name = "a", .state = JobState::starting});
  add(1, {.name = "a", .state = JobState::starting, .is_stopped = true});
  listed_.resize(2);
  EXPECT_THAT(lines(), ElementsAre("a  starting [0] - stopped [1]"));
}

TEST_F(JobWordsTest, EscapesTextOfHostsAndFitsItOnALine) {
  listed_.resize(1);
  add(0, {.name = "x\x1b[2J", .state = JobState::running, .command = std::string(100, 'y') + "\x07"});
  const std::vector<std::string> all = lines(Heading::none, 80);
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].find('\x1b'), std::string::npos);
  EXPECT_EQ(all[0].size(), 79);
  EXPECT_TRUE(all[0].ends_with("..."));
  EXPECT_THAT(lines(Heading::shown, 30),
              ElementsAre("NAME      STATE", "x\\x1b[2J  running [0]", "    " + std::string(22, 'y') + "..."))
      << "below, where there is no room beside it";
  EXPECT_TRUE(lines()[0].ends_with("yyyy\\x07")) << "a pipe gets all of it";
}

std::vector<std::string> start(std::vector<Job> jobs) {
  std::vector<hosts::Host> hosts(jobs.size());
  for (std::size_t host = 0; host < hosts.size(); ++host) hosts[host].worker = host;
  return describe_start("train", hosts, jobs, "podrun -H a");
}

TEST(JobStartWords, SayThatItRunsOrHowItEnded) {
  const Job running{.name = "train", .state = JobState::running};
  const Job missing{
      .name = "train", .state = JobState::ended, .status = 127, .last_line = "sh: x:\x1b not found"};
  const std::string on_one =
      "podrun: train runs on 1 host (podrun -H a logs -f train shows its output, podrun -H a stop train "
      "stops it)";
  const std::string over = "podrun: train has ended (podrun -H a logs train shows its output)";
  EXPECT_THAT(start({running}), ElementsAre(on_one));
  EXPECT_THAT(start({missing, missing}), ElementsAre("podrun: exit 127 [0,1]: sh: x:\\x1b not found", over));
  EXPECT_THAT(start({running, missing}), ElementsAre("podrun: exit 127 [1]: sh: x:\\x1b not found", on_one));
  EXPECT_THAT(start({{.name = "train", .state = JobState::ended, .last_line = "done"}}),
              ElementsAre("podrun: exit 0 [0]", over));
  EXPECT_THAT(
      start(
          {{.name = "train", .state = JobState::ended, .status = 143, .is_stopped = true, .last_line = "x"}}),
      ElementsAre("podrun: stopped [0]", over));
}

}  // namespace
}  // namespace podrun::jobs
