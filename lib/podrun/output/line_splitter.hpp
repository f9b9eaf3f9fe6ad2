// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace podrun::output {

/// How a line ended; a piece is part of a line whose rest follows.
enum class LineEnd { newline, end_of_stream, piece };

/// A line or a piece of one, without its newline.
struct SplitLine {
  std::string_view text;
  LineEnd end = LineEnd::newline;
};

/// The limit in bytes of an unfinished line; smaller in a run of more hosts.
inline std::size_t line_limit(std::size_t hosts) {
  constexpr std::size_t kKiB = 1024;
  constexpr std::size_t kAllHosts = 64 * kKiB * kKiB;
  return std::clamp(kAllHosts / std::max<std::size_t>(hosts, 1), 64 * kKiB, 1024 * kKiB);
}

/// Cuts the bytes of one stream into lines at `\n`, unchanged. A line longer than `limit` bytes comes in
/// pieces of exactly that size and a rest. Lines within the bytes of one call are not copied.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t limit) : limit_(limit) {}

  /// Removes the next line from the front of `bytes`. None: all of `bytes` was taken, and more must follow.
  /// The text is valid until the next call, and while the bytes are.
  std::optional<SplitLine> next(std::string_view& bytes) {
    forget_delivered();
    const std::size_t room = limit_ - kept_.size();
    const std::size_t newline = bytes.substr(0, room + 1).find('\n');
    if (newline != std::string_view::npos) {
      const std::string_view part = bytes.substr(0, newline);
      bytes.remove_prefix(newline + 1);
      return complete(part, LineEnd::newline);
    }
    if (bytes.size() > room) {
      const std::string_view part = bytes.substr(0, room);
      bytes.remove_prefix(room);
      return complete(part, LineEnd::piece);
    }
    keep(bytes);
    bytes = {};
    return std::nullopt;
  }

  /// Ends the stream: returns its unfinished last line, if there is one.
  std::optional<SplitLine> end() {
    forget_delivered();
    if (kept_.empty()) return std::nullopt;
    return complete({}, LineEnd::end_of_stream);
  }

  /// The part of an incomplete line that has arrived.
  std::string_view unfinished() const {
    return delivered_ ? std::string_view() : std::string_view(kept_.data(), kept_.size());
  }

 private:
  SplitLine complete(std::string_view last_part, LineEnd end) {
    if (kept_.empty()) return {last_part, end};
    keep(last_part);
    delivered_ = true;
    return {{kept_.data(), kept_.size()}, end};
  }
  void keep(std::string_view bytes) {
    const std::size_t size = kept_.size() + bytes.size();
    // Doubling alone would let the capacity pass the limit.
    if (size > kept_.capacity()) kept_.reserve(std::min(limit_, std::max(size, 2 * kept_.capacity())));
    kept_.insert(kept_.end(), bytes.begin(), bytes.end());
  }
  void forget_delivered() {
    if (delivered_) kept_.clear();
    delivered_ = false;
  }

  std::size_t limit_;
  std::vector<char> kept_;  ///< the unfinished line, or the last delivered one
  bool delivered_ = false;
};

}  // namespace podrun::output
