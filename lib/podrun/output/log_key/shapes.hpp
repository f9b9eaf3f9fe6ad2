// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/output/log_key/own_names.hpp"
#include "podrun/output/log_key/shape_index.hpp"

namespace podrun::output {

/// A part of a line that differs between hosts. The kind replaces it in a key.
struct LogField {
  enum Kind : char {
    time = 't',
    process = 'p',  ///< pid, thread, port of a client
    name = 'n',     ///< of the host
    ip = 'i',       ///< of the host
    address = 'x',
    rank = 'r',    ///< of the host or process
    worker = 'w',  ///< the worker number, if the line names it as such
    progress = 'q',
    measure = 'm',       ///< a rate, a duration or memory
    process_rank = 'R',  ///< the number in the tag of the process
    number = '#',        ///< any other number (Same::numbers)
    ignored = '-',

    // Kinds that a shape finds; what they mean for a host is decided by LineFields:
    own_rank = 'o',    ///< a rank if it is the number of the host
    own_worker = 'O',  ///< the same, after a word for machines: the worker number first
    next_rank = '1',   ///< the rank and 1
    host_count = 'N',  ///< the shape matches if it is the number of hosts
    tag = 'g',         ///< names the process that prints; holds other fields
    kept = 'k',        ///< counts in every mode
  };

  std::size_t begin = 0;
  std::size_t end = 0;
  Kind kind = time;

  std::size_t size() const { return end - begin; }
  bool is_own() const { return kind == name || kind == ip || kind == rank || kind == worker; }
  bool is_measure() const { return kind == measure || kind == number; }
  friend bool operator==(const LogField&, const LogField&) = default;
};

/// A shape is a regular expression:
///   .  [a-z]  [^ ]  \d digit  \w part of a word  \a letter  \h hexadecimal digit  \e escape  \t
///   ?  *  +  {2,4}  after a byte or a set; ? also after a group
///   (a|b)  ~(a|b) words in any case  &(a) followed by a  !(a) not followed by a  ^ $ the line's ends
///   {00-23}  two digits in this range
///   \b  a word begins here   @ a name of the host   {name} a piece   <k:a> a field of kind k
struct Piece {
  std::string_view name;
  std::string_view shape;
};

/// A shape, where it is compared, and what it needs and gives there.
struct Row {
  enum Where {
    start,         ///< in the prefix of a line, after other parts of it
    number,        ///< at each number: the first field is its place, and the text before it precedes it
    early,         ///< the same, before the message begins
    numbers_only,  ///< the same, in Same::numbers
  };
  /// Parts of a prefix. `rest`: no other part follows; `syslog`: a time as in syslog; `first`: see `needs`.
  enum Part : unsigned {
    none = 0,
    time = 1,
    level = 2,
    process = 4,
    rest = 8,
    all = 15,
    syslog = 16,
    first = 32
  };

  Where where;
  std::string_view shape;
  unsigned gives = none;  ///< the parts that this is, which do not follow again
  unsigned needs = none;  ///< one of them came before; first: no part did
};

struct ShapeMatch {
  std::array<LogField, 8> fields;
  std::size_t count = 0;
  LogField tag = {};  ///< empty: none
  std::size_t begin = 0;
  std::size_t end = 0;
  /// The end of the bytes that decided the result; 1 more than the size of the line if its end did. Each
  /// search and comparison only raises it.
  std::size_t decided_by = 0;
};

/// Rows, ready to be compared. A row that stands first is tried first.
class Shapes {
 public:
  /// At most 64 rows. `choices`: which rows a search may look for, a bit for each. Throws std::logic_error
  /// for text that is not a shape.
  Shapes(std::span<const Piece> pieces, std::vector<Row> rows, std::vector<std::uint64_t> choices);
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;

  const Row& row(std::size_t index) const { return rows_[index]; }
  /// A bit for each row that may match at this place. Sets ShapeMatch::decided_by, too.
  std::uint64_t candidates(std::size_t choice, std::string_view line, std::size_t at, ShapeMatch& match);
  bool match(std::size_t row, std::string_view line, std::size_t at, const OwnNames& own,
             ShapeMatch& match) const;

 private:
  template <int kStep>
  class Run;

  std::vector<Row> rows_;
  ShapeProgram program_;
  std::vector<std::uint64_t> choices_;
  std::vector<std::size_t> before_;  ///< by row: the first op for the text before its place
  std::vector<std::size_t> after_;
  std::vector<ShapeIndex> index_;  ///< of the text before and after a place
};

/// The rows of the table.
struct LogShapes {
  static constexpr unsigned kTagsOnly = Row::first;

  Shapes prefix;          ///< a choice is what came before, of Row::Part; kTagsOnly: only tags of processes
  Shapes numbers;         ///< all rows that are not in the prefix; choice 1 is for Same::numbers, else 0
  ShapeMatch match = {};  ///< of the last comparison
};

/// The shapes of the table. Each thread has its own, since every search may add to their index.
LogShapes& log_shapes();

}  // namespace podrun::output
