// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace podrun::output {

/// Learns which words for ranks count: a host that prints the same line with its own number and with another
/// one numbers something within itself. Remembers the last few lines and words, by their hashes.
class RankWords {
 public:
  /// The word has numbers within the host.
  bool counts(std::size_t word) const;

  /// `form` is a line without the number after the word. Returns whether the word counts now.
  bool see(std::size_t form, std::size_t word, bool is_own);

 private:
  static constexpr std::size_t kOwn = 1;
  static constexpr std::size_t kOther = 2;

  std::array<std::size_t, 16> forms_ = {};  ///< hashes, with kOwn and kOther in their last bits
  std::array<std::size_t, 8> counting_ = {};
  std::size_t next_form_ = 0;
  std::size_t next_counting_ = 0;
};

}  // namespace podrun::output
