// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "podrun/top/figures.hpp"
#include "podrun/top/frames.hpp"

namespace podrun::top {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class GpuRows : public testing::Test {
 protected:
  void feed(const std::string& text) { reader_.feed(text); }
  HostReport report_;
  FrameReader reader_{report_};
};

TEST_F(GpuRows, ReadsARound) {
  feed("s nvidia=2\ng 10.5 0, 98, 71680, 81559, 655.25, 64, 1980, 1980, 0, 0x0000000000000004\n");
  EXPECT_THAT(report_.chips, IsEmpty());
  feed("g 10.6 1, 0, 1, 81559, 71.00, 34, 345, 1980, 2, 0x0000000000000041\n");
  ASSERT_THAT(report_.chips, SizeIs(2));
  EXPECT_EQ(report_.chips_at, 10.6);
  const Chip& chip = report_.chips[0];
  EXPECT_EQ(chip.busy, 98);
  EXPECT_EQ(chip.memory_used, 71680ULL << 20U);
  EXPECT_EQ(chip.memory_total, 81559ULL << 20U);
  EXPECT_EQ(chip.watts, 655.25);
  EXPECT_EQ(chip.celsius, 64);
  EXPECT_EQ(chip.mhz, 1980);
  EXPECT_EQ(chip.ecc_errors, 0U);
  EXPECT_EQ(chip.slowed_by, 4U);
  EXPECT_EQ(report_.chips[1].ecc_errors, 2U);
  EXPECT_EQ(report_.chips[1].slowed_by, 0x41U);
}

TEST_F(GpuRows, DoNotKnowWhatNvidiaSmiDoesNotKnow) {
  for (const std::string word :
       {"[N/A]", "[Not Supported]", "[Unknown Error]", "[GPU requires reset]", "ERR!", ""}) {
    feed(fmt::format("s nvidia=1\ng 10 0, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}\n", word));
    ASSERT_THAT(report_.chips, SizeIs(1)) << word;
    const Chip& chip = report_.chips[0];
    EXPECT_FALSE(chip.busy || chip.watts || chip.memory_used || chip.memory_total || chip.celsius) << word;
    EXPECT_FALSE(chip.mhz || chip.most_mhz || chip.ecc_errors || chip.slowed_by) << word;
    EXPECT_EQ(report_.gpu_text, "");
  }
}

TEST_F(GpuRows, ALostGpuIsAFault) {
  for (const std::string word : {"[GPU is lost]", "[Unknown Error]", "[GPU requires reset]", "ERR!"}) {
    feed(fmt::format("s nvidia=1\ng 10 0, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}\n", word));
    EXPECT_EQ(report_.chips.at(0).fault, word);
    feed(fmt::format("g 11 0, 97, 70000, 81559, {}, 58, 1980, 1980, 0, 0x0000000000000004\n", word));
    EXPECT_EQ(report_.chips.at(0).fault, word);
    EXPECT_EQ(report_.chips.at(0).busy, 97);
  }
}

TEST_F(GpuRows, AFigureThatAKindOfGpuDoesNotHaveIsNoFault) {
  feed("s nvidia=1\n");
  for (const std::string row : {"0, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]",
                                "0, 12, [N/A], [N/A], 11.17, 35, 2405, 3003, [N/A], 0x0000000000000001",
                                "0, [Not Supported], 1, 2, 3, 4, 5, 6, N/A, 0x1"}) {
    feed("g 10 " + row + "\n");
    EXPECT_EQ(report_.chips.at(0).fault, "") << row;
  }
}

/// The driver knows no utilization of a GPU that is divided.
TEST_F(GpuRows, KnowsTheMemoryOfADividedGpu) {
  feed("s nvidia=1\ng 10 0, [N/A], 40000, 81559, 300.00, 50, 1980, 1980, 0, 0x0000000000000000\nf u10\n");
  EXPECT_FALSE(at(figures_of(report_), Figure::busy));
  EXPECT_NEAR(*at(figures_of(report_), Figure::hbm), 49, 0.1);
}

TEST_F(GpuRows, KeepsWhatIsSaidInPlaceOfARow) {
  for (const std::string text :
       {"No devices were found", "Failed to initialize NVML: Driver/library version mismatch",
        "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error",
        "Field \"clocks_event_reasons.active\" is not a valid field to query.", "nvidia-smi has ended"}) {
    feed("s nvidia=1\ng 10 " + text + "\n");
    EXPECT_EQ(report_.gpu_text, text);
    feed("g 11 0, 98, 1, 2, 3, 4, 5, 6, 0, 0x0\n");
    EXPECT_EQ(report_.gpu_text, "");
  }
  feed("g 12 " + std::string(3000, 'x') + "\n");
  EXPECT_LE(report_.gpu_text.size(), 200U);
}

TEST_F(GpuRows, AnEmptyLineSaysNothing) {
  feed("s nvidia=1\ng 10 \ng 10\ng\n");
  EXPECT_EQ(report_.gpu_text, "");
}

TEST_F(GpuRows, ShowsTheOthersOfALostGpu) {
  feed("s nvidia=3\n");
  for (int round = 0; round < 2; ++round)
    feed(
        "g 10 0, 98, 1, 2, 3, 4, 5, 6, 0, 0x0\ng 10 Unable to determine the device handle\n"
        "g 10 2, 97, 1, 2, 3, 4, 5, 6, 0, 0x0\n");
  ASSERT_THAT(report_.chips, SizeIs(2));
  EXPECT_EQ(report_.chips[1].index, 2U);
  EXPECT_EQ(report_.gpu_text, "Unable to determine the device handle");
}

TEST_F(GpuRows, ARowOfAnotherFormIsText) {
  feed("s nvidia=1\ng 10 0, 98, 1\ng 10 99999, 1, 1, 1, 1, 1, 1, 1, 1, 1\n");
  EXPECT_THAT(report_.chips, IsEmpty());
}

TEST_F(GpuRows, ARoundThatBrokeOffIsForgotten) {
  feed("s nvidia=3\ng 10 0, 98, 1, 2, 3, 4, 5, 6, 0, 0x0\ng 10 1, 98, 1, 2, 3, 4, 5, 6, 0, 0x0\n");
  FrameReader next(report_);
  next.feed("s nvidia=3\nf u20\n");
  EXPECT_THAT(report_.chips, IsEmpty());
}

TEST_F(GpuRows, ReadsAmd) {
  feed("f u7 a98,68702699520,206141652992,700000000,62000 a,,,, a0,x,1,2,3\n");
  ASSERT_THAT(report_.chips, SizeIs(3));
  EXPECT_EQ(report_.chips_at, 7);
  EXPECT_EQ(report_.chips[0].busy, 98);
  EXPECT_EQ(report_.chips[0].memory_used, 68702699520U);
  EXPECT_EQ(report_.chips[0].watts, 700);
  EXPECT_EQ(report_.chips[0].celsius, 62);
  EXPECT_FALSE(report_.chips[0].mhz || report_.chips[0].slowed_by);
  EXPECT_FALSE(report_.chips[1].busy || report_.chips[1].watts || report_.chips[1].memory_used);
  EXPECT_EQ(report_.chips[2].busy, 0);
  EXPECT_EQ(report_.chips[2].index, 2U);
}

}  // namespace
}  // namespace podrun::top
