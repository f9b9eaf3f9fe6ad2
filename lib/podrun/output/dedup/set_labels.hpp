// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/line_printer.hpp"

namespace podrun::output {

/// A cache of labels, because the same few sets of hosts occur repeatedly.
class SetLabels {
 public:
  SetLabels(const std::vector<hosts::Host>& hosts, const View& view) : hosts_(hosts), view_(view) {}

  /// The label; if labels are aligned, padded to the widest of the last lines. Valid until the next call.
  std::string_view of(std::span<const std::size_t> hosts, StreamId stream) {
    auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& candidate) {
      return candidate.stream == stream && std::ranges::equal(candidate.hosts, hosts);
    });
    if (known == known_.end()) known = make(hosts, stream);
    if (!view_.align) return known->text;
    note_width(known->width);
    padded_ = known->text;
    padded_.append(column_ - std::min(column_, known->width), ' ');
    return padded_;
  }

 private:
  static constexpr std::size_t kKept = 16;
  static constexpr std::size_t kWidest = 20;  ///< cells; a wider one moves only its own line

  struct Known {
    std::vector<std::size_t> hosts;  ///< empty: unused
    StreamId stream = StreamId::out;
    std::string text;
    std::size_t width = 0;  ///< cells
  };
  using Place = std::array<Known, kKept>::iterator;

  /// The column of the text grows at once, and shrinks after kLines lines that need less.
  void note_width(std::size_t width) {
    constexpr std::size_t kLines = 40;
    if (width > kWidest) return;
    recent_ = std::max(recent_, width);
    column_ = std::max(column_, width);
    if (++lines_ < kLines) return;
    column_ = std::exchange(recent_, 0);
    lines_ = 0;
  }
  Place make(std::span<const std::size_t> hosts, StreamId stream) {
    const Place made = known_.begin() + static_cast<std::ptrdiff_t>(next_++ % kKept);
    made->hosts.assign(hosts.begin(), hosts.end());
    made->stream = stream;
    made->width = lines_label(view_.label, hosts_, hosts, stream, Color::off).size();
    made->text = lines_label(view_.label, hosts_, hosts, stream, view_.color[index_of(stream)]);
    return made;
  }

  const std::vector<hosts::Host> hosts_;
  const View view_;
  std::array<Known, kKept> known_;
  std::size_t next_ = 0;
  std::size_t column_ = 0;  ///< cells before the text
  std::size_t recent_ = 0;  ///< the widest label of the last `lines_` lines
  std::size_t lines_ = 0;
  std::string padded_;
};

}  // namespace podrun::output
