// SPDX-License-Identifier: Apache-2.0
// Paints a screen by the lines that have changed. Terminals that know synchronized output (mode 2026) show
// all of them at once; others ignore its marks.
#include "podrun/output/screen_painter.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace podrun::output {
namespace {

constexpr std::string_view kBegin = "\x1b[?2026h\x1b[0m";
constexpr std::string_view kEnd = "\x1b[?2026l";

}  // namespace

std::string ScreenPainter::paint(const std::vector<std::string>& lines, ScreenSize size) {
  const bool is_visible = size.rows > 0 && size.columns > 0;
  const bool paints_all = size != size_;
  const std::size_t count = is_visible ? std::min(lines.size(), size.rows) : 0;
  std::string bytes;
  for (std::size_t row = 0; row < count; ++row) {
    if (!paints_all && row < shown_.size() && lines[row] == shown_[row]) continue;
    // Erased before it is written: after a line of full width the cursor stands on its last cell.
    fmt::format_to(std::back_inserter(bytes), "\x1b[{}H\x1b[K{}\x1b[0m", row + 1, lines[row]);
  }
  const bool has_more = is_visible && count < size.rows && (paints_all || count < shown_.size());
  if (has_more) fmt::format_to(std::back_inserter(bytes), "\x1b[{}H\x1b[J", count + 1);
  shown_.assign(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count));
  size_ = is_visible ? size : ScreenSize{};
  return bytes.empty() ? bytes : fmt::format("{}{}{}", kBegin, bytes, kEnd);
}

}  // namespace podrun::output
