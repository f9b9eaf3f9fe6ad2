// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace podrun::run {

/// How long to wait before a host is connected again. The delays are random, so that the hosts do not all
/// come back at once.
class RetryDelays {
 public:
  RetryDelays(std::chrono::milliseconds longest_first, std::uint64_t seed)
      : longest_first_(longest_first), random_(seed) {}

  /// After so many attempts: from half of the longest delay to all of it. The longest delay doubles with
  /// every attempt, up to 8 s.
  std::chrono::milliseconds after(std::size_t attempts);

 private:
  std::chrono::milliseconds longest_first_;
  std::mt19937_64 random_;
};

}  // namespace podrun::run
