// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/retry_delays.hpp"

#include <algorithm>

namespace podrun::run {
namespace {

constexpr std::chrono::milliseconds kLongest{8000};

}  // namespace

std::chrono::milliseconds RetryDelays::after(std::size_t attempts) {
  std::chrono::milliseconds longest = longest_first_;
  for (std::size_t i = 1; i < attempts && longest < kLongest; ++i) longest *= 2;
  longest = std::min(longest, kLongest);
  std::uniform_int_distribution<std::chrono::milliseconds::rep> distribution(longest.count() / 2,
                                                                             longest.count());
  return std::chrono::milliseconds(distribution(random_));
}

}  // namespace podrun::run
