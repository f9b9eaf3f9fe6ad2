// SPDX-License-Identifier: Apache-2.0
// Compares the stages and causes of all features with docs/json-schema.json.
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "podrun/jobs/job_failures.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/top/top_failures.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::cli {
namespace {

/// The identifiers of the common values and of a feature's own.
template <typename Value, typename Common>
std::set<std::string> identifiers(std::size_t common, std::initializer_list<Value> own) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < common; ++i) names.emplace(report::identifier(Value(static_cast<Common>(i))));
  for (const Value& value : own) EXPECT_TRUE(names.emplace(report::identifier(value)).second);
  names.erase("");
  return names;
}

std::set<std::string> documented(const char* field) {
  std::ifstream file(PODRUN_DOCS "/json-schema.json");
  return nlohmann::json::parse(file)["$defs"]["exit"]["properties"][field]["enum"];
}

TEST(FailuresOfFeatures, HaveDocumentedStages) {
  EXPECT_EQ((identifiers<link::Stage, link::CommonStage>(
                link::kStages, {transfer::kCopying, jobs::kJobName, jobs::kJobLog, top::kSampling})),
            documented("stage"));
}

TEST(FailuresOfFeatures, HaveDocumentedCauses) {
  EXPECT_EQ((identifiers<link::Cause, link::CommonCause>(
                link::kCauses,
                {transfer::kNotComparable, transfer::kFilesDiffer, transfer::kTooLarge, transfer::kNotCopied,
                 transfer::kDeletesAll, transfer::kLocalFileFailed, jobs::kJobExists})),
            documented("cause"));
}

TEST(FailuresOfFeatures, HaveWordsForTheStatusLine) {
  EXPECT_EQ(transfer::kCopying.doing, "copying");
  EXPECT_EQ(jobs::kJobName.doing, "reserving the name");
  EXPECT_EQ(jobs::kJobLog.doing, "following");
}

}  // namespace
}  // namespace podrun::cli
