// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/host_filter.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "podrun/base/error.hpp"

#include "unit/top/pods.hpp"

namespace podrun::top {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Filter : public testing::Test {
 protected:
  Filter() {
    for (FakeGpu& gpu : pod_.hosts[1].gpus) gpu.busy = "10";
    pod_.hosts[3].holders.front() = {
        .uid = 1007, .user = "alice", .mark = "aaaabbbbccccdddd.job-0-evaluate."};
    pod_.hosts[4].holders.clear();
    pod_.hosts[5].ahead = 3;
    pod_.steps(3);
    pod_.lose(6);
    pod_.hosts[7].answers = false;
    pod_.steps(4);
  }

  std::vector<std::size_t> hosts(const std::string& text) const {
    const HostFilter filter(text);
    std::vector<std::size_t> accepted;
    for (std::size_t host = 0; host < pod_.hosts.size(); ++host) {
      if (filter.accepts(pod_.pod, host)) accepted.push_back(host);
    }
    return accepted;
  }
  static std::string error_of(const std::string& text) {
    try {
      const HostFilter filter(text);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  FakePod pod_{8};
};

TEST_F(Filter, NothingAcceptsAll) {
  EXPECT_TRUE(HostFilter("  ").is_empty());
  EXPECT_THAT(hosts(""), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(Filter, KnowsRuns) {
  EXPECT_THAT(hosts("run=train"), ElementsAre(0, 1, 2, 5, 6, 7));
  EXPECT_THAT(hosts("run=evaluate"), ElementsAre(3));
  EXPECT_THAT(hosts("run=trai"), IsEmpty());
}

TEST_F(Filter, KnowsNumbersNamesAndStates) {
  EXPECT_THAT(hosts("[0-2,5]"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(hosts("3,7"), ElementsAre(3, 7));
  EXPECT_THAT(hosts("6"), ElementsAre(6));
  EXPECT_THAT(hosts("gpu6"), ElementsAre(6));
  EXPECT_THAT(hosts("pu"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(hosts("lost"), ElementsAre(6));
  EXPECT_THAT(hosts("stale"), ElementsAre(7));
  EXPECT_THAT(hosts("odd"), ElementsAre(1, 3, 5, 6, 7));
  EXPECT_THAT(hosts("up"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(Filter, AllWordsMustBeTrue) { EXPECT_THAT(hosts(" run=train\t[0-1]  up odd "), ElementsAre(1)); }

TEST_F(Filter, NamesTheWrongWord) {
  for (const std::string word : {"gpu<50", "user!=me", "user=alice", "<5", "run=", "run!=a", "[5-2]", "[",
                                 "-", "1,,2", "[0-99999999999]"})
    EXPECT_THAT(error_of("odd " + word), HasSubstr("bad filter \"" + word + "\"")) << word;
}

}  // namespace
}  // namespace podrun::top
