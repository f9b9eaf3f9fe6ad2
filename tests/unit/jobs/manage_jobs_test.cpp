// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/manage_jobs.hpp"

#include <gmock/gmock.h>

#include "unit/session/session_fixture.hpp"

namespace podrun::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ManageJobsTest : public test::SessionTest {
 protected:
  /// What jobs.sh prints there: lines for each job.
  void has(std::size_t host, const std::string& jobs) { prints(host, "podrun-jobs @RUN\n" + jobs + "end\n"); }
  ManagedJobs manage(const JobsPlan& plan) { return manage_jobs(session(Connections::kept), plan); }
  std::string said() {
    session_.reset();
    return all_of(err_);
  }
};

TEST_F(ManageJobsTest, ListsTheJobsOfAllHosts) {
  set_up(2);
  has(0, "job train\nstate running\n");
  has(1, "job train\nstate ended 3\n");
  const ManagedJobs listed = manage({});
  EXPECT_EQ(listed.status, 0);
  EXPECT_THAT(names_of(listed.jobs), ElementsAre("train"));
  EXPECT_EQ(listed.jobs.listed[1].list.jobs.front().status, 3);
  session_.reset();
  EXPECT_THAT(all_of(out_), HasSubstr("train"));
}

TEST_F(ManageJobsTest, SaysThatThereIsNoSuchJob) {
  set_up(2);
  has(0, "");
  has(1, "");
  EXPECT_EQ(manage({.names = {"train"}}).status, 1);
  EXPECT_EQ(said(), "podrun: there is no job train on these hosts\n");
}

TEST_F(ManageJobsTest, RemovesNothingOfAJobThatRunsOnOneHost) {
  set_up(2);
  has(0, "job train\nstate ended 0\n");
  has(1, "job train\nstate running\n");
  EXPECT_EQ(manage({.action = JobAction::remove, .names = {"train"}}).status, 1);
  EXPECT_THAT(hosts_[0].programs.back().script.bytes(), Not(HasSubstr("remove train")));
  EXPECT_THAT(said(), HasSubstr("podrun: train runs: not removed (podrun stop train stops it)\n"));
}

TEST_F(ManageJobsTest, StoppingFailsWhereAJobRunsOnAndNamesHostsThatDoNotAnswer) {
  set_up(3);
  has(0, "job train\nstate ended 143\nstopped\n");
  has(1, "job train\nstate running\n");
  refuse(2);
  EXPECT_EQ(manage({.action = JobAction::stop, .names = {"train"}}).status, 255);
  EXPECT_THAT(said(), HasSubstr("podrun: train may still run on [2] (podrun stop train, when it answers)\n"));
}

}  // namespace
}  // namespace podrun::jobs
