// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/regex.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/log_key/log_key.hpp"

namespace podrun::output {

/// Which lines of two hosts count as one (`--dedup`): lines with equal bytes, log lines that differ only in
/// fields that always differ between hosts, or also in numbers.
enum class Same { bytes, log_line, numbers };

/// How lines are compared.
struct Comparison {
  Same same = Same::bytes;
  std::vector<Regex> ignored = {};  ///< `--dedup-ignore`: what matches does not count
};

/// Makes the keys by which lines of one host are compared with those of others.
class LineKey {
 public:
  /// `rank`: see LogKey.
  LineKey(const hosts::Host& host, std::size_t rank, const Comparison& comparison);

  /// Valid while `line` is, and until the next call. Keys of different lines can be equal; the bytes of a
  /// line that count stand in its key unchanged.
  std::string_view key(std::string_view line);
  /// The key that Same::log_line would give, whatever the comparison is. Valid as long.
  std::string_view log_key(std::string_view line) { return log_key_.key(line, folded_); }

 private:
  std::string_view without_ignored(std::string_view line);

  const Comparison comparison_;
  const LogKey log_key_;
  std::string kept_;
  std::string folded_;
  std::string numbers_;
};

/// Replaces each number in a key by `\n#`, with its sign and the blanks before it, and what a progress bar
/// draws: ` 45%|####5   | 45/100`. Digits after a letter or `_` are part of a name. The result may be in
/// `buffer`.
std::string_view fold_numbers(std::string_view key, std::string& buffer);

}  // namespace podrun::output
