// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/log_follow.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/link/failure.hpp"

namespace podrun::jobs {
namespace {

/// Records the pieces, as `out@3:abc `.
class LogFramesTest : public testing::Test {
 protected:
  void take(const LogPiece& piece) {
    taken_ +=
        fmt::format("{}@{}:{} ", piece.stream == StreamId::out ? "out" : "err", piece.position, piece.bytes);
  }

  std::string taken_;
  LogFrames frames_{[this](const LogPiece& piece) { take(piece); }};
};

TEST_F(LogFramesTest, ReadsFramesWhereverTheyAreCut) {
  const std::string text = "job 12\nout 0 0\nerr 7 0\nout 0 4\na\nb\nerr 7 2\n\n\nstate ended 3 1.0 x 9\n";
  for (const char c : text) frames_.feed(std::string_view(&c, 1));
  EXPECT_EQ(taken_, "out@0: err@7: out@0:a out@1:\n out@2:b out@3:\n err@7:\n err@8:\n ");
  EXPECT_EQ(frames_.number(), "12");
  EXPECT_EQ(frames_.state(), "ended 3 1.0 x 9");
  taken_.clear();
  LogFrames whole([this](const LogPiece& piece) { take(piece); });
  whole.feed(text);
  EXPECT_EQ(taken_, "out@0: err@7: out@0:a\nb\n err@7:\n\n ");
}

TEST_F(LogFramesTest, RefusesAnythingButFrames) {
  for (const std::string_view text :
       {"hello\n", "out\n", "out 1\n", "out 1 x\n", "out -1 2\n", "out 99999999999999999999 1\n", "job x\n",
        "\n", "state running\nmore"}) {
    EXPECT_THROW(LogFrames([](const LogPiece&) {}).feed(text), link::HostError) << text;
  }
  EXPECT_THROW(frames_.feed(std::string(1000, 'x')), link::HostError);
}

}  // namespace
}  // namespace podrun::jobs
