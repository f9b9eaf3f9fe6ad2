// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/log_key/line_key.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace podrun::output {
namespace {

std::string folded(std::string_view line) {
  std::string buffer;
  return std::string(fold_numbers(line, buffer));
}

TEST(FoldNumbers, TakesNumbersInAllForms) {
  const std::string_view lines[] = {"loss 2.31", "loss -0.5", "loss  1e-05", "loss 1,024", "loss 12:13"};
  for (const std::string_view line : lines) EXPECT_EQ(folded(line), "loss\n#") << line;
  EXPECT_EQ(folded("0.153s/step 10.77it/s"), "\n#s/step\n#it/s");
  EXPECT_EQ(folded("[4191] 7/100"), "[\n#]\n#/\n#");
}

TEST(FoldNumbers, LeavesNamesAndWords) {
  for (const std::string_view line : {"float32", "layer_3", "v2 nan", "tpu-x"}) EXPECT_EQ(folded(line), line);
  EXPECT_NE(folded("loss nan"), folded("loss 2.31"));
  EXPECT_EQ(folded("tpu-3"), "tpu-\n#") << "no sign";
}

TEST(FoldNumbers, TakesABarOfAnyLength) {
  EXPECT_EQ(folded(" 45%|####5     | 45/100"), folded("  7%|6         | 7/100"));
  EXPECT_EQ(folded("100%|██████████| 3/3"), folded("  0%|          | 0/3"));
}

TEST(LineKey, ComparesAsAsked) {
  hosts::Host host;
  host.name = "tpu-3";
  LineKey bytes(host, 3, {});
  LineKey log(host, 3, {.same = Same::log_line});
  LineKey numbers(host, 3, {.same = Same::numbers});
  const std::string line = "2026-11-22 08:00:00 [4191] loss 2.31";
  EXPECT_EQ(bytes.key(line), line);
  EXPECT_EQ(log.key(line), "\nt [\np] loss 2.31");
  EXPECT_EQ(numbers.key(line), "\nt [\np] loss\n#");
}

TEST(LineKey, LeavesOutWhatIsIgnored) {
  hosts::Host host;
  LineKey key(host, 0, {.ignored = {Regex("loss [0-9.]+"), Regex("[0-9]+ ms")}});
  EXPECT_EQ(key.key("step 7 loss 2.31 in 15 ms"), "step 7 \n- in \n-");
  EXPECT_EQ(key.key("step 7"), "step 7");
}

}  // namespace
}  // namespace podrun::output
