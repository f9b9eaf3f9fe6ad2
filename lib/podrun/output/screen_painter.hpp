// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace podrun::output {

/// The size of a terminal, in cells.
struct ScreenSize {
  std::size_t columns = 0;
  std::size_t rows = 0;

  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

/// The bytes that change what a terminal shows, line by line. Pure.
class ScreenPainter {
 public:
  /// The bytes that show these lines from the top, and nothing below them: only lines that differ from the
  /// last call, and all of them after a change of `size`. Empty: nothing differs. The lines may have SGR
  /// sequences, but never more cells than the screen; lines below the screen are left out.
  std::string paint(const std::vector<std::string>& lines, ScreenSize size);
  /// The next paint() shows all lines.
  void forget() { size_ = {}; }

 private:
  std::vector<std::string> shown_;
  ScreenSize size_;  ///< 0x0: nothing is shown
};

}  // namespace podrun::output
