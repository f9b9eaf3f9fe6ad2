// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

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

// In the functions below `text` begins at a word, and `before` is the line before it.

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

}  // namespace podrun::output
