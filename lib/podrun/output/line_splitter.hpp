// SPDX-License-Identifier: Apache-2.0
#pragma once

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
std::size_t line_limit(std::size_t hosts);

/// Cuts the bytes of one stream into lines at `\n`, unchanged. A line longer than `limit` bytes comes in
/// pieces of exactly that size and a rest. Lines within the bytes of one call are not copied.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t limit) : limit_(limit) {}

  /// Removes the next line from the front of `bytes`. None: all of `bytes` was taken, and more must follow.
  /// The text is valid until the next call, and while the bytes are.
  std::optional<SplitLine> next(std::string_view& bytes);

  /// Ends the stream: returns its unfinished last line, if there is one.
  std::optional<SplitLine> end();

  /// The part of an incomplete line that has arrived.
  std::string_view unfinished() const {
    return delivered_ ? std::string_view() : std::string_view(kept_.data(), kept_.size());
  }

 private:
  SplitLine complete(std::string_view last_part, LineEnd end);
  void keep(std::string_view bytes);
  void forget_delivered();

  std::size_t limit_;
  std::vector<char> kept_;  ///< the unfinished line, or the last delivered one
  bool delivered_ = false;
};

}  // namespace podrun::output
