// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The fields of log lines that `--dedup=log` ignores: in log_prefix.cpp those at the start of a line, in
// log_time.cpp times, in log_fields.cpp all others.
namespace podrun::output {

/// A part of a line that always differs between hosts. The kind replaces it in a LogKey.
struct LogField {
  enum Kind : char {
    time = 't',
    process = 'p',  ///< pid or thread
    name = 'n',
    ip = 'i',
    address = 'x',
    rank = 'r',
    worker = 'w',  ///< the worker number, if the line names it as such
    progress = 'q',
  };

  std::size_t begin = 0;
  std::size_t end = 0;
  Kind kind = time;
};

// In the functions below `text` begins at a word, and `before` is the part of the line before it.

/// The size in bytes of a memory address, `0x7f3a5c000b60`. A shorter or wider number may be a code or a
/// hash; it is an address only after a word that says so.
std::size_t address_size(std::string_view before, std::string_view text);

/// The size in bytes of tqdm's measurements in their bracket, `00:10<00:12,  4.50it/s`.
std::size_t progress_size(std::string_view before, std::string_view text);

/// Whether process_field() may find something at this byte.
bool may_begin_process_word(char c);

/// The pid, thread or time that a word before it names: `pid=915`, `PID 915`, `MainProcess:915`,
/// `"ts":17953.9` (JSON); or the address in Ray's `(train pid=915, ip=10.0.0.1)`. Empty: none.
LogField process_field(std::string_view before, std::string_view text);

bool may_begin_rank_word(char c);

/// The number in `text` that may be a rank, if any: `rank 3`, `rank=3`, `"rank": 3`, `rank3`, `Rank 3/64`.
/// Its kind is `worker` after a word that numbers machines, else `rank`.
LogField rank_number(std::string_view before, std::string_view text);

/// The names of a host in its own lines.
class OwnNames {
 public:
  /// Names and addresses of the host; a name also counts up to its first dot. A number is not a name.
  explicit OwnNames(const std::vector<std::string>& names);

  /// The whole name that `text` begins with; empty: none. `before` is the line before it.
  std::string_view first_of(std::string_view before, std::string_view text) const;

  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;  ///< longest first
};

bool is_ip_address(std::string_view name);

/// The size in bytes of the time of day, `13:00:01` with its fraction, at the start of the text; 0: none. A
/// comma starts a fraction only in Python's form, because it ends a column in a table.
std::size_t clock_size(std::string_view text);

/// The size in bytes of the date and time, with fraction and zone, at the start of the text; 0: none. Knows
/// ISO 8601 with `T` or a blank, and `/` for `-`, also with the year last.
std::size_t datetime_size(std::string_view text);

/// Like datetime_size(), for forms that are a time only at the start of a line: `13:00:01`, `11-21 13:00:01`,
/// `11/21/26 13:00:01`, `Nov 21 13:00:01`, `Sat Nov 21 13:00:01`.
std::size_t line_start_time_size(std::string_view text);

/// The fields of a log prefix, in order.
struct PrefixFields {
  std::array<LogField, 6> fields = {};  ///< at most a time, a process and its thread, and three of NCCL
  std::size_t count = 0;
};

/// Finds fields in the prefixes of loggers: glog and absl (also in PyTorch's brackets), the kernel, NCCL,
/// Python's logging, syslog (RFC 3164, RFC 5424), and other times, also those of datetime_size(). Text that
/// may be a message has no field.
PrefixFields prefix_fields(std::string_view line, const OwnNames& own);

}  // namespace podrun::output
