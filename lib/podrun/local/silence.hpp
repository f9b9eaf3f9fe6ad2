// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>

namespace podrun::local {

/// Counts the intervals without output from a host; the caller looks once per interval. As over SSH, a host
/// is lost after `count_max` + 1 of them if a question has been unanswered since the first.
class Silence {
 public:
  enum class Verdict { heard, quiet, ask, lost };

  explicit Silence(unsigned count_max) : count_max_(std::max(count_max, 1U)) {}

  /// The host has printed something.
  void hear() { heard_ = true; }
  /// The host has answered a question. While it prints nothing, the next question comes after 2, then 4
  /// intervals.
  void answer() {
    unanswered_ = 0;
    rest_ = pause_ = std::min(2 * pause_ + 1, kLongestPause);
  }

  /// `listening`: whether podrun reads the host's output, so that silence is the host's.
  Verdict look(bool listening) {
    if (std::exchange(heard_, false) || !listening) {
      unanswered_ = rest_ = pause_ = 0;
      return Verdict::heard;
    }
    if (rest_ > 0) {
      --rest_;
      return Verdict::quiet;
    }
    if (unanswered_ == count_max_) return Verdict::lost;
    ++unanswered_;
    return Verdict::ask;
  }

 private:
  static constexpr unsigned kLongestPause = 3;

  unsigned count_max_;
  unsigned unanswered_ = 0;
  unsigned rest_ = 0;   // intervals until the next question
  unsigned pause_ = 0;  // the last rest
  bool heard_ = true;
};

}  // namespace podrun::local
