// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/top/top_pod.hpp"

namespace podrun::top {

/// Which hosts are shown: words that all must be true. `[0-15]` or `3,7` is the number, `odd`, `up`, `stale`
/// and `lost` the state, `run=train` a job or run on the host; other words are a part of the name. Pure.
class HostFilter {
 public:
  HostFilter() = default;
  /// Throws UsageError that names the word.
  explicit HostFilter(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_empty() const { return words_.empty(); }
  bool accepts(const Pod& pod, std::size_t host) const;

 private:
  struct Word {
    std::string text;
    std::vector<std::size_t> workers = {};  ///< of a word of numbers, sorted
  };
  static Word parse(std::string_view text);
  static bool is_true(const Word& word, const Pod& pod, std::size_t host);

  std::string text_;
  std::vector<Word> words_;
};

}  // namespace podrun::top
