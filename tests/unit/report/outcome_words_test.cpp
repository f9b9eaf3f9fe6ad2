// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/outcome_words.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace podrun::report {
namespace {

using link::Cause;
using link::Failure;
using link::Stage;

template <typename Enum>
std::vector<Enum> all(std::size_t count) {
  std::vector<Enum> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<Enum>(i));
  return values;
}

template <typename Enum>
std::set<std::string> identifiers(const std::vector<Enum>& values) {
  std::set<std::string> names;
  for (const Enum value : values) names.emplace(identifier(value));
  return names;
}

bool is_snake_case(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

/// The identifiers that docs/json-schema.json allows for a field of the exit event.
std::set<std::string> documented(const char* field) {
  std::ifstream file(PODRUN_DOCS "/json-schema.json");
  const nlohmann::json schema = nlohmann::json::parse(file);
  return schema["$defs"]["exit"]["properties"][field]["enum"];
}

TEST(FailureWords, NameEveryStage) {
  const auto stages = all<link::CommonStage>(link::kStages);
  for (const link::CommonStage stage : stages) {
    if (stage == Stage::none) continue;
    EXPECT_TRUE(is_snake_case(identifier(stage))) << identifier(stage);
    EXPECT_FALSE(words(stage).empty()) << identifier(stage);
  }
  std::set<std::string> names = identifiers(stages);
  EXPECT_EQ(names.size(), link::kStages);
  names.erase("");
  EXPECT_THAT(documented("stage"), testing::IsSupersetOf(names));  // of features too
}

TEST(FailureWords, NameEveryCause) {
  const auto causes = all<link::CommonCause>(link::kCauses);
  for (const link::CommonCause cause : causes) {
    EXPECT_TRUE(is_snake_case(identifier(cause))) << identifier(cause);
    EXPECT_FALSE(words(cause).empty()) << identifier(cause);
    EXPECT_FALSE(reason({.cause = cause}).empty()) << identifier(cause);
    EXPECT_THAT(reason({.cause = cause, .detail = "the detail"}), testing::HasSubstr("the detail"));
  }
  EXPECT_EQ(identifiers(causes).size(), link::kCauses);
  EXPECT_THAT(documented("cause"), testing::IsSupersetOf(identifiers(causes)));
}

TEST(FailureWords, AreThoseOfAFeatureForItsStagesAndCauses) {
  static constexpr link::StageWords kBaking{"baking", "baking bread"};
  static constexpr link::CauseWords kBurnt{"burnt", "the bread is burnt", "{} ({})"};
  const Failure failure{kBaking, kBurnt, "at 300 °C"};
  EXPECT_EQ(identifier(failure.stage), "baking");
  EXPECT_EQ(identifier(failure.cause), "burnt");
  EXPECT_EQ(describe(failure), "baking bread: the bread is burnt (at 300 °C)");
  EXPECT_EQ(words(run::Unreachable{failure}), "not ready");
  static constexpr link::StageWords kTasting{"tasting", "tasting", "", false};
  EXPECT_EQ(words(run::Unreachable{{kTasting, kBurnt}}), "unreachable");
}

TEST(FailureWords, CountTheTime) {
  EXPECT_EQ(
      describe({.stage = Stage::key_exchange, .cause = Cause::timed_out, .after = std::chrono::seconds(10)}),
      "key exchange: timed out after 10 s");
  EXPECT_EQ(reason({.cause = Cause::no_answer, .after = std::chrono::seconds(45)}), "no answer for 45 s");
  EXPECT_EQ(reason({.cause = Cause::not_ended, .after = std::chrono::seconds(15)}),
            "did not stop within 15 s");
  EXPECT_EQ(reason({.cause = Cause::timed_out,
                    .detail = "ProxyCommand says: hello",
                    .after = std::chrono::seconds(2)}),
            "timed out after 2 s (ProxyCommand says: hello)");
}

TEST(FailureWords, NameTheJumpHostsOnTheWay) {
  EXPECT_EQ(describe({.stage = Stage::login, .cause = Cause::closed, .jump_hosts = {"inner", "outer"}}),
            "jump host inner: jump host outer: login: closed by the server");
  EXPECT_EQ(describe({.stage = Stage::forwarding, .cause = Cause::refused, .jump_hosts = {"gate"}}),
            "connecting from jump host gate: connection refused");
}

TEST(FailureWords, TellOfTheOtherConnectionThatWasTried) {
  const Failure failure{.stage = Stage::opening_channel,
                        .cause = Cause::request_refused,
                        .detail = "open failed",
                        .elsewhere = {{Stage::login, Cause::permission_denied, "for me (no key)"}}};
  EXPECT_EQ(describe(failure),
            "opening a channel: refused by the server: open failed; on another connection: "
            "login: permission denied for me (no key)");
}

}  // namespace
}  // namespace podrun::report
