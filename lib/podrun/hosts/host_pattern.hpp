// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace podrun::hosts {

/// The most hosts in one list.
inline constexpr std::size_t kMaxHosts = 100'000;

/// One entry of a host list as written, and its place; errors about the entry name both.
struct HostEntry {
  std::string_view text;
  std::string_view where;

  /// Throws UsageError: `where: bad WHAT "value" in "text" (expected EXPECTED)`.
  [[noreturn]] void refuse(std::string_view what, std::string_view value, std::string_view expected) const;
  /// Throws UsageError: this entry exceeds kMaxHosts.
  [[noreturn]] void refuse_more() const;
};

/// How to read `001-0015`: as a mistake (people), or with the width of the first number (Slurm).
enum class Widths { must_agree, first_counts };

/// A text with ranges that stands for several texts: `tpu-[0-15,20]`, `rack[1-2]-node[001-128]`. The leftmost
/// range changes slowest, and `001` keeps its width. Brackets around an IPv6 address stay.
class HostPattern {
 public:
  /// Keeps views of `entry.text`. Throws UsageError for a bad range and for more than kMaxHosts.
  explicit HostPattern(const HostEntry& entry, Widths widths = Widths::must_agree);

  std::size_t size() const { return size_; }

  /// The text number `index`, less than size().
  std::string at(std::size_t index) const;

 private:
  /// A literal text and the numbers that may follow it.
  struct Piece {
    std::string_view literal;
    std::vector<std::string> numbers;
  };

  std::vector<Piece> pieces_;
  std::size_t size_ = 1;
};

}  // namespace podrun::hosts
