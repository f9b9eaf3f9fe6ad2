// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace podrun {

/// A part of a line that differs between hosts by nature. The kind is what a LogKey has in its place.
struct LogField {
  enum Kind : char {
    time = 't',
    process = 'p',  ///< pid or thread
    name = 'n',
    ip = 'i',
    address = 'x',
    rank = 'r',
    worker = 'w',  ///< the label, where it is told from the rank
    progress = 'q',
  };

  std::size_t begin = 0;
  std::size_t end = 0;
  Kind kind = time;
};

// Of the following, `text` begins where a word does, and `before` is what the line has before it.

/// Bytes of the address in memory, `0x7f3a5c000b60`. What is shorter or wider may be a code or a hash, and is
/// an address only behind a word that says so.
std::size_t address_size(std::string_view before, std::string_view text);

/// Bytes of what tqdm has measured, `00:10<00:12,  4.50it/s`, in its bracket.
std::size_t progress_size(std::string_view before, std::string_view text);

bool may_begin_rank_word(char c);

/// The number, if any, that may be a rank, by its place in `text`: `rank 3`, `rank=3`, `"rank": 3`, `rank3`,
/// `Rank 3/64`. Its kind is `worker` for a word that numbers machines, else `rank`.
LogField rank_number(std::string_view before, std::string_view text);

}  // namespace podrun
