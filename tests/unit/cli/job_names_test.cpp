// SPDX-License-Identifier: Apache-2.0
#include "cli/job_names.hpp"

#include <gmock/gmock.h>

#include "support/fake_probe.hpp"
#include "support/temp_directory.hpp"

namespace podrun::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class JobNamesTest : public testing::Test {
 protected:
  JobNamesTest() { probe_.variables["HOME"] = directory_.path("home"); }

  /// As the next podrun finds them.
  FakeProbe& probe() {
    const std::string file = "home/.local/state/podrun/job_names";
    if (directory_.has(file)) probe_.files[directory_.path(file)] = directory_.read(file);
    return probe_;
  }
  std::vector<std::string> left(std::vector<hosts::Host> hosts, std::vector<std::string> names = {}) {
    return describe_left(hosts, names, "ps", probe());
  }

  const test::TempDirectory directory_;
  FakeProbe probe_;
  const hosts::Host a_{.worker = 0, .name = "a"};
  const hosts::Host b_{.worker = 1, .name = "b", .port = 2222};
  const hosts::Host c_{.worker = 2, .name = "c"};
};

TEST_F(JobNamesTest, AreKnownWhereverTheyRun) {
  note_started("train", {a_, b_}, probe());
  note_started("night", {}, probe());
  EXPECT_THAT(seen_job_names(probe()), ElementsAre("train", "night"));
  note_listed({"eval", "night"}, {a_, b_}, probe());
  EXPECT_THAT(seen_job_names(probe()), ElementsAre("night", "eval"));
}

TEST_F(JobNamesTest, AreNotForgottenOnHostsThatLeaveTheList) {
  note_started("train", {a_, b_}, probe());
  EXPECT_THAT(left({a_, b_, c_}), IsEmpty());
  EXPECT_THAT(left({c_}), IsEmpty()) << "another pod";
  const std::string note =
      "train was started on b:2222 too, which is not among these hosts (podrun -H b:2222 ps train)";
  EXPECT_THAT(left({a_}), ElementsAre(note));
  EXPECT_THAT(left({a_}, {"eval"}), IsEmpty());
  note_listed({}, {a_}, probe());
  note_removed({"train"}, {a_}, probe());
  EXPECT_THAT(left({a_}), ElementsAre(note)) << "it is still there";
  note_removed({"train"}, {b_}, probe());
  EXPECT_THAT(left({a_}), IsEmpty());
  EXPECT_THAT(seen_job_names(probe()), IsEmpty());
}

}  // namespace
}  // namespace podrun::cli
