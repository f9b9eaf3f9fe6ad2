// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "podrun/base/chunk.hpp"

namespace podrun::supervisor {

/// Takes `~podrun1 <nonce> exit <status>\n` out of the output of a command (ExitStatus::in_output), wherever
/// it stands and however it arrives in pieces. All other bytes stay as they are. Pure.
class ExitLineReader {
 public:
  explicit ExitLineReader(std::string_view nonce);

  /// Takes output; returns the bytes that certainly belong to the command, perhaps none.
  Chunk feed(Chunk chunk);
  /// The bytes that feed() kept, when no more output follows.
  Chunk finish();
  /// 0 to 255, once the line was there.
  const std::optional<int>& status() const { return status_; }
  /// Whether another such line followed, so that somebody has learnt the nonce: no status can be believed.
  bool is_repeated() const { return is_repeated_; }

 private:
  std::size_t take_line(std::string& text);
  std::size_t possible_start(std::string_view text) const;

  std::string start_;  // "~podrun1 <nonce> exit "
  std::string held_;   // may be the beginning of the line
  std::optional<int> status_;
  bool is_repeated_ = false;
};

}  // namespace podrun::supervisor
