// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/merged_line.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun::output {
namespace {

using testing::ElementsAre;

/// Each host's line, whose measures are in `{}`, or `{#}` if they count.
std::vector<std::string> merged(const std::vector<std::string>& marked) {
  std::vector<std::string> texts(marked.size());
  std::vector<MeasuredLine> lines;
  for (std::size_t host = 0; host < marked.size(); ++host) {
    MeasuredLine line{.host = host, .text = {}, .measures = {}, .printed = {}, .has_other_counts = false};
    for (const char c : marked[host]) {
      if (c == '{') {
        line.measures.push_back({texts[host].size(), 0});
      } else if (c == '#') {
        line.measures.back().counts = true;
      } else if (c == '}') {
        line.measures.back().end = texts[host].size();
      } else {
        texts[host] += c;
      }
    }
    line.text = texts[host];
    line.printed = texts[host];
    lines.push_back(std::move(line));
  }
  std::vector<std::string> shown;
  for (const MergedLine& line : merge_lines(lines))
    shown.push_back(fmt::format("[{}]: {}", fmt::join(line.hosts, ","), line.text));
  return shown;
}

TEST(MergedLine, ShowsWhatDiffersAsARange) {
  EXPECT_THAT(merged({"step 10 ({1.20} s/it, {41.2} GB)", "step 10 ({1.18} s/it, {41.2} GB)",
                      "step 10 ({1.22} s/it, {41.2} GB)"}),
              ElementsAre("[0,1,2]: step 10 (1.18..1.22 s/it, 41.2 GB)"));
  EXPECT_THAT(merged({"{-0.5} {1,024} {2e-05} {0:59}", "{-1.5} {999} {1.9e-5} {1:02}"}),
              ElementsAre("[0,1]: -1.5..-0.5 999..1,024 1.9e-5..2e-05 0:59..1:02"));
  EXPECT_THAT(merged({"{1.0} s", "{1.00} s"}), ElementsAre("[0,1]: 1.0 s"));
  EXPECT_THAT(merged({"{?}it/s", "{2.0}it/s"}), ElementsAre("[0,1]: 2.0it/s"));
}

TEST(MergedLine, GivesAHostFarOffALineOfItsOwn) {
  EXPECT_THAT(merged({"{1.9} s/it", "{1.18} s/it", "{1.2} s/it", "{1.22} s/it"}),
              ElementsAre("[1,2,3]: 1.18..1.22 s/it", "[0]: 1.9 s/it"));
  EXPECT_THAT(merged({"loss {0.61}", "loss {0.6}", "loss {40.2}", "loss {0.63}", "loss {0.6}"}),
              ElementsAre("[0,1,3,4]: loss 0.6..0.63", "[2]: loss 40.2"));
  EXPECT_THAT(merged({"{900} tokens/s", "{910} tokens/s", "{905} tokens/s", "{500} tokens/s",
                      "{903} tokens/s", "{904} tokens/s", "{901} tokens/s", "{500} tokens/s"}),
              ElementsAre("[0,1,2,4,5,6]: 900..910 tokens/s", "[3,7]: 500 tokens/s"));
}

TEST(MergedLine, ShowsACountThatMostHostsDoNotHave) {
  EXPECT_THAT(merged({"step {#200}", "step {#200}", "step {#199}", "step {#200}"}),
              ElementsAre("[0,1,3]: step 200", "[2]: step 199"));
  EXPECT_THAT(merged({"numpy {#2.0.1}", "numpy {#1.26.4}", "numpy {#2.0.1}"}),
              ElementsAre("[0,2]: numpy 2.0.1", "[1]: numpy 1.26.4"));
  EXPECT_THAT(merged({"port {#51234}", "port {#40001}", "port {#40110}", "port {#51300}"}),
              ElementsAre("[0,1,2,3]: port 40001..51300"));
  EXPECT_THAT(merged({"{3} s", "{3} s", "{4} s"}), ElementsAre("[0,1,2]: 3..4 s"));
}

TEST(MergedLine, KnowsValuesThatJustVary) {
  EXPECT_THAT(merged({"{1} s", "{4} s", "{2} s", "{9} s", "{6} s"}), ElementsAre("[0,1,2,3,4]: 1..9 s"));
  EXPECT_THAT(merged({"{0.01} s", "{0.02} s", "{0.01} s", "{0.01} s"}),
              ElementsAre("[0,1,2,3]: 0.01..0.02 s"))
      << "the last digit";
  EXPECT_THAT(merged({"{1} s", "{100} s"}), ElementsAre("[0,1]: 1..100 s")) << "which of the two is odd?";
}

TEST(MergedLine, HasAHostOnce) {
  std::vector<MeasuredLine> lines = {{1, "{1.1}", {{1, 4, false}}, {}, false},
                                     {0, "{1.2}", {{1, 4, false}}, {}, false},
                                     {1, "{1.3}", {{1, 4, false}}, {}, false}};
  const std::vector<MergedLine> all = merge_lines(lines);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].hosts, ElementsAre(0, 1));
  EXPECT_EQ(all[0].text, "{1.1..1.3}");
}

}  // namespace
}  // namespace podrun::output
