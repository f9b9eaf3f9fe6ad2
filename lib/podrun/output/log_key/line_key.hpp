// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/regex.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/log_key/line_fields.hpp"

namespace podrun::output {

/// Which lines of two hosts count as one (`--dedup`): lines with equal bytes, log lines that differ only in
/// fields that always differ between hosts, or also in numbers.
enum class Same { bytes, log_line, numbers };

/// How lines are compared.
struct SameLines {
  Same same = Same::bytes;
  std::vector<Regex> ignored = {};  ///< `--dedup-ignore`: what matches does not count
};

/// The keys of a line, and what they leave out. A key has the bytes of the line unchanged, but in place of
/// each field `\n`, which no line has, and the field's kind.
struct LineKeys {
  std::string_view key;
  std::string_view plain_key;  ///< with the host's names, addresses and ranks as they stand
  std::string_view process;    ///< the part of the line that names the process; empty: none, or Same::bytes
  std::span<const LogField> fields;        ///< of `key`, in order
  std::span<const LogField> plain_fields;  ///< of `plain_key`, in order
};

/// Makes the keys by which lines of one host are compared with those of others: lines are equal if their keys
/// are, or their plain keys.
class LineKey {
 public:
  /// `rank` is the host's number among the hosts that run; `hosts` is how many do, 0 if that is not known.
  LineKey(const hosts::Host& host, std::size_t rank, const SameLines& comparison, std::size_t hosts = 0);

  /// The host has these names and addresses, too.
  void add_names(const std::vector<std::string>& names) { fields_.add_names(names); }

  /// Valid while `line` is, and until the next call. Allocates nothing once the buffers have grown.
  LineKeys keys(std::string_view line);
  std::string_view key(std::string_view line) { return keys(line).key; }
  /// The key that Same::log_line would give, unless the comparison is Same::numbers. Valid as long.
  std::string_view log_key(std::string_view line);
  /// The tag at the start of the line that names the process; empty: none. Quicker than keys().
  std::string_view process(std::string_view line) { return fields_.process_of(line); }

 private:
  static std::string_view without(std::string_view line, std::span<const LogField> fields, std::string& out);
  std::span<const LogField> with_ignored(std::string_view line, std::span<const LogField> found,
                                         std::vector<LogField>& fields);

  SameLines comparison_;
  LineFields fields_;
  std::vector<LogField> folded_;
  std::vector<LogField> merged_;  ///< of with_ignored()
  std::vector<LogField> plain_;
  std::string key_;
  std::string plain_key_;
};

}  // namespace podrun::output
