// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// Hosts in one list at the most.
inline constexpr std::size_t kMaxHosts = 100'000;

/// One entry of a host list as it was written, and where: what an error about it names.
struct HostEntry {
  std::string_view text;
  std::string_view where;

  /// Throws UsageError: `where: bad WHAT "value" in "text" (expected EXPECTED)`.
  [[noreturn]] void refuse(std::string_view what, std::string_view value, std::string_view expected) const;
  /// Throws UsageError: there are more than kMaxHosts with this one.
  [[noreturn]] void refuse_more() const;
};

/// `001-0015`: is it a slip (as a person writes it), or does the first number alone give the width (Slurm)?
enum class Widths { must_agree, first_counts };

/// A text with ranges, `tpu-[0-15,20]` or `rack[1-2]-node[001-128]`, that stands for several: the leftmost
/// range is the slowest, `001` keeps its width. Brackets around an IPv6 address are left as they are.
class HostPattern {
 public:
  /// Keeps views of `entry.text`. Throws UsageError for a bad range and for more than kMaxHosts.
  explicit HostPattern(const HostEntry& entry, Widths widths = Widths::must_agree);

  std::size_t size() const { return size_; }

  /// The text number `index` of size().
  std::string at(std::size_t index) const;

 private:
  /// Text, and the numbers that may follow it.
  struct Piece {
    std::string_view literal;
    std::vector<std::string> numbers;
  };

  std::vector<Piece> pieces_;
  std::size_t size_ = 1;
};

}  // namespace podrun
