// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/job_report.hpp"

#include <gmock/gmock.h>

#include "podrun/base/answer.hpp"

namespace podrun::jobs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(JobList, ReadsTheJobsOfAHost) {
  const JobList list = parse_job_list(
      "Welcome\npodrun-jobs n\n"
      "job train\nstate running\nnumber 3\nkept 10 3 x 3\nage 90\noutput 2\nbytes 81920\ncommand python "
      "train.py \n"
      "job eval\nstate ended 137 12.5 boot 1700000000\nstopped\nopen\nended 7\nunknown 1\nend\n",
      "n");
  ASSERT_TRUE(list.is_complete);
  ASSERT_EQ(list.jobs.size(), 2);
  const Job& train = list.jobs[0];
  EXPECT_EQ(train.name, "train");
  EXPECT_EQ(train.state, JobState::running);
  EXPECT_TRUE(train.is_active());
  EXPECT_EQ(train.number, 3);
  EXPECT_THAT(train.kept, ElementsAre(3, 10));
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

TEST(JobList, GivesNoJobTheLinesOfOneBeyondTheLimit) {
  std::string output = "podrun-jobs n\nnumber 9\n";
  for (std::size_t job = 0; job <= kMostEntries; ++job)
    output += "job a\nnumber " + std::to_string(job) + '\n';
  const JobList list = parse_job_list(output + "end\n", "n");
  ASSERT_EQ(list.jobs.size(), kMostEntries);
  EXPECT_EQ(list.jobs.back().number, kMostEntries - 1);
}

TEST(JobList, IgnoresTheListOfAnotherRun) {
  EXPECT_FALSE(parse_job_list("podrun-jobs m\njob a\nend\n", "n").is_complete);
  EXPECT_FALSE(parse_job_list("podrun-jobs n\njob a\n", "n").is_complete);
}

}  // namespace
}  // namespace podrun::jobs
