// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/job_report.hpp"

#include <gmock/gmock.h>

namespace podrun::jobs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(JobList, ReadsTheJobsOfAHost) {
  const JobList list = parse_job_list(
      "Welcome\npodrun-jobs n\n"
      "job train\nstate running\nnumber 3\nage 90\noutput 2\nbytes 81920\ncommand python train.py \n"
      "job eval\nstate ended 137 12.5 boot 1700000000\nstopped\nopen\nended 7\nunknown 1\nend\n",
      "n");
  ASSERT_TRUE(list.is_complete);
  ASSERT_EQ(list.jobs.size(), 2);
  const Job& train = list.jobs[0];
  EXPECT_EQ(train.name, "train");
  EXPECT_EQ(train.state, JobState::running);
  EXPECT_TRUE(train.is_active());
  EXPECT_EQ(train.number, 3);
  EXPECT_EQ(train.age, 90s);
  EXPECT_EQ(train.output, 2s);
  EXPECT_EQ(train.ended, std::nullopt);
  EXPECT_EQ(train.bytes, 81920);
  EXPECT_EQ(train.command, "python train.py");
  const Job& eval = list.jobs[1];
  EXPECT_EQ(eval.state, JobState::ended);
  EXPECT_FALSE(eval.is_active());
  EXPECT_EQ(eval.status, 137);
  EXPECT_TRUE(eval.is_stopped);
  EXPECT_TRUE(eval.is_open);
  EXPECT_EQ(eval.ended, 7s);
}

JobState state_of(std::string_view state) {
  const JobList list = parse_job_list("podrun-jobs n\njob a\nstate " + std::string(state) + "\nend\n", "n");
  return list.jobs.at(0).state;
}

TEST(JobList, KnowsTheStates) {
  EXPECT_EQ(state_of("starting"), JobState::starting);
  EXPECT_EQ(state_of("lost rebooted"), JobState::rebooted);
  EXPECT_EQ(state_of("lost 1234"), JobState::unsupervised);
  EXPECT_EQ(state_of("lost"), JobState::lost);
  EXPECT_EQ(state_of("removed"), JobState::removed);
  EXPECT_EQ(state_of("ended 256 1 b 2"), JobState::lost) << "no exit status";
  EXPECT_EQ(state_of("nonsense"), JobState::lost);
}

TEST(JobList, IgnoresTheListOfAnotherRun) {
  EXPECT_FALSE(parse_job_list("podrun-jobs m\njob a\nend\n", "n").is_complete);
  EXPECT_FALSE(parse_job_list("podrun-jobs n\njob a\n", "n").is_complete);
}

class JobReportTest : public testing::Test {
 protected:
  JobReportTest() {
    for (std::size_t host = 0; host < 4; ++host) {
      hosts_.push_back({.worker = host, .name = "tpu-" + std::to_string(host)});
      listed_.push_back({host, {.is_complete = true}});
    }
  }

  void add(std::size_t host, Job job) { listed_[host].list.jobs.push_back(std::move(job)); }
  std::vector<std::string> lines() { return describe_jobs(hosts_, listed_, " - "); }

  std::vector<hosts::Host> hosts_;
  std::vector<ListedJobs> listed_;
};

TEST_F(JobReportTest, FoldsHostsByState) {
  for (std::size_t host = 0; host < 3; ++host) {
    add(host,
        {.name = "train", .state = JobState::running, .age = 3h, .output = 4s, .command = "python train.py"});
  }
  add(3, {.name = "train", .state = JobState::ended, .status = 1, .age = 3h, .ended = 60s});
  EXPECT_THAT(lines(),
              ElementsAre("train  running [0-2] - exit 1 [3] - started 3 h ago - output 4 s ago - python "
                          "train.py"));
}

TEST_F(JobReportTest, ShowsWhenJobsEnded) {
  add(0, {.name = "a", .state = JobState::ended, .status = 0, .age = 120s, .ended = 60s});
  add(1, {.name = "a", .state = JobState::ended, .status = 137, .is_open = true, .age = 120s, .ended = 5s});
  add(2, {.name = "b", .state = JobState::ended, .status = 143, .is_stopped = true});
  add(3, {.name = "b", .state = JobState::rebooted});
  EXPECT_THAT(
      lines(),
      ElementsAre(
          "a  exit 0 [0] - exit 137 (SIGKILL), output open [1] - not there [2,3] - started 2 min ago - "
          "ended 5 s to 1 min ago",
          "b  stopped [2] - lost (rebooted) [3] - not there [0,1]"));
}

TEST_F(JobReportTest, NamesHostsThatLackAJob) {
  add(1, {.name = "a", .state = JobState::running});
  for (std::size_t host = 0; host < 4; ++host) add(host, {.name = "b", .state = JobState::running});
  listed_.erase(listed_.begin() + 3);  // it has not answered
  EXPECT_THAT(lines(), ElementsAre("a  running [1] - not there [0,2]", "b  running [0-2]"));
}

TEST_F(JobReportTest, EscapesTextOfHostsAndFitsItOnALine) {
  listed_.resize(1);
  add(0, {.name = "x\x1b[2J", .state = JobState::running, .command = std::string(100, 'y') + "\x07"});
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].find('\x1b'), std::string::npos);
  EXPECT_LE(all[0].size(), 79);
  EXPECT_TRUE(all[0].ends_with("..."));
}

}  // namespace
}  // namespace podrun::jobs
