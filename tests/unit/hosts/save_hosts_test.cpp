// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/save_hosts.hpp"

#include <gmock/gmock.h>

#include "podrun/base/error.hpp"

#include "support/fake_probe.hpp"
#include "support/pod.hpp"
#include "support/temp_directory.hpp"

namespace podrun::hosts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SaveHostsTest : public testing::Test {
 protected:
  SaveHostsTest() { probe_.variables["HOME"] = directory_.path(); }

  const test::TempDirectory directory_;
  FakeProbe probe_;
};

TEST_F(SaveHostsTest, WritesTheListAndSaysWhatIsInIt) {
  EXPECT_THAT(save_hosts(test::pod(2), false, probe_),
              ElementsAre(HasSubstr("wrote " + directory_.path("podips.txt") + ": 2 hosts")));
  EXPECT_THAT(directory_.read("podips.txt"), HasSubstr("tpu-0\ntpu-1\n"));
}

TEST_F(SaveHostsTest, ReplacesAListOnlyIfItMay) {
  directory_.write("podips.txt", "mine\n");
  EXPECT_THROW(save_hosts(test::pod(2), false, probe_), UsageError);
  EXPECT_EQ(directory_.read("podips.txt"), "mine\n");
  save_hosts(test::pod(2), true, probe_);
  EXPECT_THAT(directory_.read("podips.txt"), HasSubstr("tpu-1"));
}

TEST_F(SaveHostsTest, NeedsAHomeAndAHost) {
  EXPECT_THROW(save_hosts({}, false, probe_), UsageError);
  probe_.variables.clear();
  EXPECT_THROW(save_hosts(test::pod(2), false, probe_), UsageError);
}

}  // namespace
}  // namespace podrun::hosts
