// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/job_start.hpp"

#include <gtest/gtest.h>

#include "podrun/base/error.hpp"

namespace podrun::jobs {
namespace {

TEST(JobName, RefusesCharactersThatActInPathsOrPatterns) {
  for (const std::string name : {"train", "llama-3.1_8b", "7", "_x"})
    EXPECT_NO_THROW(check_job_name(name)) << name;
  for (const std::string name : {"", ".", "..", ".x", "-f", "a/b", "a b", "a*", "a\n", "\xc3\xa4"})
    EXPECT_THROW(check_job_name(name), UsageError) << name;
  EXPECT_NO_THROW(check_job_name(std::string(64, 'a')));
  EXPECT_THROW(check_job_name(std::string(65, 'a')), UsageError);
}

}  // namespace
}  // namespace podrun::jobs
