// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/mark.hpp"

#include <string>

#include <gtest/gtest.h>

namespace podrun::supervisor {
namespace {

TEST(RunOfAMark, IsOnlyWhatCanBeAnId) {
  EXPECT_EQ(run_of("0123456789abcdef.3."), "0123456789abcdef");
  EXPECT_EQ(run_of("0123456789abcdef.job-0-$(id)."), "0123456789abcdef");
  for (const std::string mark : {"", ".", "0123.4.", "$(id)0123456.0.", "$(id).job-0-$(id)."})
    EXPECT_EQ(run_of(mark), "") << mark;
}

TEST(RunOfAMark, IsThatOfARunAndNoneIfPodrunOnlyWatches) {
  EXPECT_EQ(make_mark("0123456789abcdef", RunKind::work, 3), "0123456789abcdef.3.");
  const std::string watch = make_mark("0123456789abcdef", RunKind::watch, 3);
  EXPECT_TRUE(watch.starts_with("0123456789abcdef.") && watch.ends_with(".3.")) << watch;
  EXPECT_EQ(run_of(watch), "");
  EXPECT_EQ(job_of(watch), "");
}

TEST(JobOfAMark, IsOnlyWhatCanBeAName) {
  EXPECT_EQ(job_of("0123456789abcdef.job-12-llama-3.1."), "llama-3.1");
  for (const std::string mark :
       {"", ".", "0123.4.", "0123.job-", "0123.job-.", "0123.job-x", "0123.job-x.", "0123.job--x.",
        "0123.job-1.", "0123.job-1-.", "0123.job-1-x", "0123.job-0-$(id).", "0123.job-0--x."})
    EXPECT_EQ(job_of(mark), "") << mark;
}

}  // namespace
}  // namespace podrun::supervisor
