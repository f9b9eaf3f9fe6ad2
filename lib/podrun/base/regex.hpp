// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace podrun {

/// An extended regular expression of POSIX, as grep -E has it (regex(7)). Copies share it.
class Regex {
 public:
  /// Throws UsageError: the text is not one, matches the empty text, or has `\d`, which POSIX does not know.
  explicit Regex(const std::string& text);

  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// The first match that is not empty, at `from` or after it. NUL bytes are ordinary bytes.
  std::optional<Match> find(std::string_view text, std::size_t from = 0) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace podrun
