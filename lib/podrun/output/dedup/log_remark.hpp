// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "podrun/output/sink.hpp"

namespace podrun::output {

/// Finds out whether `--dedup=log` would help: lines of several hosts differ although their log keys are
/// equal. Examines a sample of the lines of every few seconds.
class LogRemark {
 public:
  using TimePoint = Sink::TimePoint;

  static constexpr std::chrono::seconds kWindow{3};
  static constexpr std::size_t kMost = 256;  ///< lines of a sample
  static constexpr std::size_t kLeast = 20;  ///< fewer lines say nothing

  /// Whether another line belongs to the sample.
  bool wants_line(TimePoint now);
  void add(std::size_t host, std::string_view text, std::string_view log_key);
  /// Whether the window is over and its sample calls for the remark.
  bool is_due(TimePoint now) const;

 private:
  using Seen = std::unordered_map<std::size_t, std::size_t>;  ///< hash: the first host

  static bool is_of_another_host(Seen& seen, std::string_view text, std::size_t host);

  std::optional<TimePoint> begun_;
  std::size_t lines_ = 0;
  std::size_t equal_ = 0;       ///< lines that another host had printed
  std::size_t equal_keys_ = 0;  ///< lines with a log key that another host had printed
  Seen texts_;
  Seen keys_;
};

}  // namespace podrun::output
