// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/host_pattern.hpp"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/usage_error.hpp"

namespace podrun::hosts {
namespace {

using Texts = std::vector<std::string>;

Texts expand(const std::string& text) {
  const HostPattern pattern({text, "-H"});
  Texts texts;
  for (std::size_t i = 0; i < pattern.size(); ++i) texts.push_back(pattern.at(i));
  return texts;
}

std::string error_of(const std::string& text) {
  return usage_error([&] { expand(text); });
}

TEST(HostPattern, WritesRangesOut) {
  EXPECT_EQ(expand("tpu"), Texts{"tpu"});
  EXPECT_EQ(expand("tpu-[0-2,7]"), (Texts{"tpu-0", "tpu-1", "tpu-2", "tpu-7"}));
  EXPECT_EQ(expand("10.0.0.[9-11]"), (Texts{"10.0.0.9", "10.0.0.10", "10.0.0.11"}));
  EXPECT_EQ(expand("h:[22-23]"), (Texts{"h:22", "h:23"}));
}

TEST(HostPattern, KeepsTheWidthOfZeros) {
  EXPECT_EQ(expand("n[008-011]"), (Texts{"n008", "n009", "n010", "n011"}));
  EXPECT_EQ(expand("n[98-101]"), (Texts{"n98", "n99", "n100", "n101"}));
  EXPECT_EQ(expand("n[099-1000]"), expand("n[099-999,1000]"));
}

TEST(HostPattern, VariesTheLeftmostRangeSlowest) {
  EXPECT_EQ(expand("[1-2]a[3,5]"), (Texts{"1a3", "1a5", "2a3", "2a5"}));
}

TEST(HostPattern, LeavesAddressesInBracketsAlone) {
  EXPECT_EQ(expand("[2001:db8::1]:[22-23]"), (Texts{"[2001:db8::1]:22", "[2001:db8::1]:23"}));
}

TEST(HostPattern, NamesTheBadRange) {
  EXPECT_EQ(error_of("n[1,9-2]"),
            "-H: bad range \"9-2\" in \"n[1,9-2]\" (expected numbers from low to high, such as 0-15,20 or "
            "001-128)");
  EXPECT_EQ(error_of("n[1-2"), "-H: bad range \"[1-2\" in \"n[1-2\" (expected a closing \"]\")");
  for (const char* bad : {"[]", "[1,]", "[,1]", "[a]", "[1-]", "[-1]", "[1-2-3]", "[1-[2]]", "[ 1]", "[+1]",
                          "[1-010]", "[010-20]", "[01-002]", "[1234567890123456789]"}) {
    EXPECT_NE(error_of(bad).find("bad range"), std::string::npos) << bad;
  }
}

TEST(HostPattern, RefusesMoreThanTheLimitBeforeMakingThem) {
  EXPECT_EQ(HostPattern({"n[0-99999]", "-H"}).size(), kMaxHosts);
  EXPECT_EQ(error_of("n[0-999999999999]"),
            "-H: too many hosts with \"n[0-999999999999]\" (expected at most 100000)");
  EXPECT_EQ(error_of("[0-99999][1-2]"),
            "-H: too many hosts with \"[0-99999][1-2]\" (expected at most 100000)");
  EXPECT_EQ(error_of("[1,0-99999]"), "-H: too many hosts with \"[1,0-99999]\" (expected at most 100000)");
}

/// The plain way: every prefix times every number.
struct Reference {
  std::string pattern;
  Texts texts{""};

  void append(const std::string& literal) {
    pattern += literal;
    for (std::string& text : texts) text += literal;
  }
  void append(std::size_t first, std::size_t last, int width) {
    pattern += fmt::format("[{:0{}}-{:0{}}]", first, width, last, width);
    Texts longer;
    for (const std::string& text : texts) {
      for (std::size_t n = first; n <= last; ++n) longer.push_back(fmt::format("{}{:0{}}", text, n, width));
    }
    texts = std::move(longer);
  }
};

TEST(HostPattern, AgreesWithThePlainWayOnRandomRanges) {
  std::mt19937 random(1);
  const auto below = [&random](std::size_t limit) { return random() % limit; };
  for (int round = 0; round < 500; ++round) {
    Reference reference;
    for (auto groups = below(4); groups > 0; --groups) {
      reference.append(std::string(below(3), 'n'));
      const std::size_t first = below(1200);
      reference.append(first, first + below(12), below(2) == 0 ? 1 : 4);
    }
    reference.append("x");
    EXPECT_EQ(expand(reference.pattern), reference.texts) << reference.pattern;
  }
}

}  // namespace
}  // namespace podrun::hosts
