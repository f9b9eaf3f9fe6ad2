// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace podrun {

/// How a line ended; a piece is a part of a line whose rest follows.
enum class LineEnd { newline, end_of_stream, piece };

/// A line or a piece of one, without its newline.
struct SplitLine {
  std::string_view text;
  LineEnd end = LineEnd::newline;
};

/// Bytes that an unfinished line may take in a run of so many hosts: the less the more there are.
std::size_t line_limit(std::size_t hosts);

/// Cuts the bytes of one stream into lines at `\n` and alters none of them. A line longer than `limit` bytes
/// comes in pieces of exactly that size and a rest. Lines that lie within one call's bytes are not copied.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t limit) : limit_(limit) {}

  /// Takes the next line off the front of `bytes`. None: all of `bytes` was taken and more must follow.
  /// The text holds until the next call, and as long as the bytes do.
  std::optional<SplitLine> next(std::string_view& bytes);

  /// The end of the stream: its unfinished last line, if there is one.
  std::optional<SplitLine> end();

  /// What has come of the line that is not complete yet.
  std::string_view unfinished() const {
    return delivered_ ? std::string_view() : std::string_view(kept_.data(), kept_.size());
  }

 private:
  SplitLine complete(std::string_view last_part, LineEnd end);
  void keep(std::string_view bytes);
  void forget_delivered();

  std::size_t limit_;
  std::vector<char> kept_;  ///< the unfinished line, or the one delivered last
  bool delivered_ = false;
};

}  // namespace podrun
