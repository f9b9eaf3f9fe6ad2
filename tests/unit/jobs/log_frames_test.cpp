// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/log_frames.hpp"

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

TEST_F(LogFramesTest, HandsMatchingLinesOverAsAWhole) {
  std::uint64_t next = 0;
  LogFrames frames([&](const LogPiece& piece) {
    take(piece);
    next = piece.next;
  });
  const std::string text = "job 1\nout 5 0\nerr 0 0\nout 5 4 900\na\nb\n";
  frames.feed(std::string_view(text).substr(0, text.size() - 1));
  EXPECT_EQ(taken_, "out@5: err@0: ");
  EXPECT_EQ(next, 0);
  frames.feed("\n");
  EXPECT_EQ(taken_, "out@5: err@0: out@5:a\nb\n ");
  EXPECT_EQ(next, 900);
  frames.feed("out 900 0 1000\nout 1000 1 1001\nc");
  EXPECT_EQ(taken_, "out@5: err@0: out@5:a\nb\n out@900: out@1000:c ");
  EXPECT_EQ(next, 1001);
}

TEST_F(LogFramesTest, HandsNotesOver) {
  std::string notes;
  LogFrames frames(
      [&](const LogPiece& piece) { take(piece); },
      [&](const LogNote& note) { notes += fmt::format("{} {} {};", note.age.count(), note.out, note.err); });
  frames.feed("job 1\nat 90 10 0\nat 8 10 5\nout 0 1\nxat 1 11 5\n");
  EXPECT_EQ(notes, "90 10 0;8 10 5;1 11 5;");
  EXPECT_EQ(taken_, "out@0:x ");
}

TEST_F(LogFramesTest, RefusesAnythingButFrames) {
  for (const std::string_view text :
       {"hello\n", "out\n", "out 1\n", "out 1 x\n", "out -1 2\n", "out 99999999999999999999 1\n",
        "out 5 0 4\n", "at 1 2\n", "at x 1 2\n", "at 1 2 3 4\n", "out 0 2000000 2000000\n", "out 0 0 1 2\n",
        "job x\n", "\n", "state running\nmore"}) {
    EXPECT_THROW(LogFrames([](const LogPiece&) {}).feed(text), link::HostError) << text;
  }
  EXPECT_THROW(frames_.feed(std::string(1000, 'x')), link::HostError);
}

}  // namespace
}  // namespace podrun::jobs
