// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/stragglers.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun::output {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// Four hosts that print each second, but for some; and a clock.
class Evening {
 public:
  /// Seconds pass. `late`: these hosts' lines come 1.2 s too late; `silent`: these print nothing.
  void pass(int seconds, const std::vector<std::size_t>& late = {},
            const std::vector<std::size_t>& silent = {}) {
    const auto is_in = [](const std::vector<std::size_t>& hosts, std::size_t host) {
      return std::ranges::find(hosts, host) != hosts.end();
    };
    for (int second = 0; second < seconds; ++second) {
      now_ += 1s;
      for (std::size_t host = 0; host < 4; ++host) {
        if (is_in(silent, host)) continue;
        stragglers_.printed(now_, host);
        is_in(late, host) ? stragglers_.was_late(now_, host, 1200ms) : stragglers_.was_in_time(host);
      }
      for (const Stragglers::Remark& remark : stragglers_.take_remarks(now_))
        said_.push_back(say(remark, fmt::format("[{}]", fmt::join(remark.hosts, ","))));
    }
  }
  Stragglers& stragglers() { return stragglers_; }
  std::vector<std::string> said() { return std::exchange(said_, {}); }

 private:
  Stragglers stragglers_{4};
  Stragglers::TimePoint now_{1h};
  std::vector<std::string> said_;
};

TEST(Stragglers, SaysOnceWhichHostsAreBehind) {
  Evening evening;
  evening.pass(10);
  EXPECT_THAT(evening.said(), IsEmpty());
  evening.pass(300, {1, 3});
  EXPECT_THAT(evening.said(), ElementsAre("[1,3] are 1.2 s behind: their equal lines are not shown"));
  evening.pass(60, {3});
  EXPECT_THAT(evening.said(), ElementsAre("[1] has caught up"));
  evening.pass(60, {1, 3});
  EXPECT_THAT(evening.said(), ElementsAre("[1] is 1.2 s behind: its equal lines are not shown"));
}

TEST(Stragglers, SaysNothingOfAFewLateLines) {
  Evening evening;
  for (int i = 0; i < 20; ++i) {
    evening.pass(2, {2});
    evening.pass(3);
  }
  EXPECT_THAT(evening.said(), IsEmpty());
}

TEST(Stragglers, SaysOnceWhichHostsAreSilent) {
  Evening evening;
  evening.pass(100, {}, {0});
  EXPECT_THAT(evening.said(), ElementsAre("[0] has printed nothing for 60 s")) << "from the start";
  evening.pass(10);
  EXPECT_THAT(evening.said(), ElementsAre("[0] prints again"));
  evening.pass(500, {}, {0, 1});
  EXPECT_THAT(evening.said(), ElementsAre("[0,1] have printed nothing for 60 s"));
}

TEST(Stragglers, SaysNothingWhereAllAreSilentOrEnded) {
  Evening evening;
  evening.pass(5);
  evening.pass(500, {}, {0, 1, 2, 3});
  evening.pass(500, {}, {0, 1, 2});
  EXPECT_THAT(evening.said(), IsEmpty()) << "one host that prints is no rule";
  evening.pass(5);
  evening.stragglers().host_ended(2);
  evening.pass(500, {}, {2});
  EXPECT_THAT(evening.said(), IsEmpty());
}

}  // namespace
}  // namespace podrun::output
