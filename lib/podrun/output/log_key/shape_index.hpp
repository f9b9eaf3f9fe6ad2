// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace podrun::output {

using ByteSet = std::bitset<256>;

/// A step of a compiled shape.
struct ShapeOp {
  enum Code : std::uint8_t {
    one,
    set,
    range,
    split,
    jump,
    open,
    close,
    unless,
    ahead,
    start,
    end,
    word,
    own,
    done
  };

  Code code = done;
  char value = 0;         ///< the kind of a field; of a set: 1 if nothing after it begins with its bytes
  std::uint16_t min = 0;  ///< bytes of a set; the least of a range; else a set: how the next op begins
  std::uint16_t max = 0;  ///< also a set: how the other op begins
  std::uint16_t to = 0;   ///< another op, or a set: for `word` of the bytes before, for `own` of its own
};

struct ShapeProgram {
  std::vector<ShapeOp> ops = {};
  std::vector<ByteSet> sets = {};
};

/// Tells which shapes the bytes on one side of a place may match: a deterministic automaton of all of them,
/// which grows when bytes need it. It ignores what shapes must not match, and where words begin.
class ShapeIndex {
 public:
  /// `starts`: the first op of each shape, at most 64. `choices`: which of them a search may look for, a bit
  /// for each. `program` has to outlive this.
  ShapeIndex(const ShapeProgram& program, const std::vector<std::size_t>& starts,
             const std::vector<std::uint64_t>& choices);

  /// Returns the shapes that may match the bytes from `at` on to `end`, of those in `wanted`, which is a part
  /// of the choice with the number `choice`. If kStep is -1, the bytes before `at` are read backwards. Moves
  /// `at` behind the last byte that it needed.
  template <int kStep>
  std::uint64_t find(std::size_t choice, std::uint64_t wanted, const char*& at, const char* end) {
    std::uint64_t found = 0;
    std::uint16_t state = starts_[choice];
    for (;;) {
      if ((state & kDecides) != 0) {
        const Found& now = found_[state -= kDecides];
        found |= now.here & wanted;
        if (at != end && (now.later & wanted & ~found) == 0) return found;
      }
      if (at == end) return found | (found_[state].at_end & wanted);
      const std::uint8_t byte = classes_[static_cast<unsigned char>(kStep > 0 ? *at : at[-1])];
      const std::uint16_t next = next_[state * kClasses + byte];
      state = next != kUnknown ? next : step(state, byte);
      at += kStep;
    }
  }

 private:
  /// A place in the ops.
  struct Place {
    std::uint16_t op;  ///< kDone: the shape matches
    std::uint8_t shape;
    std::uint8_t count;  ///< bytes of the set or range so far

    auto operator<=>(const Place&) const = default;
  };
  using Places = std::vector<Place>;

  struct Found {
    std::uint64_t here = 0;    ///< shapes that match
    std::uint64_t later = 0;   ///< shapes that may match after more bytes
    std::uint64_t at_end = 0;  ///< shapes that match if the line ends
  };
  /// In the number of a state: a shape matches, or none can.
  static constexpr std::uint16_t kDecides = 0x8000;
  static constexpr std::uint16_t kUnknown = 0xffff;
  static constexpr std::size_t kClasses = 128;

  void classify();
  std::uint16_t step(std::uint16_t state, std::uint8_t byte);
  std::uint16_t state_of(Places places);
  void enter(Places& places, std::size_t op, std::size_t shape) const;
  void enter_set(Places& places, Place place) const;

  const ShapeProgram& program_;
  std::array<std::uint8_t, 256> classes_ = {};  ///< bytes that no op tells apart are in one class
  std::vector<unsigned char> samples_;          ///< a byte of each class
  std::map<Places, std::uint16_t> states_;
  std::vector<const Places*> places_;  ///< by state
  std::vector<Found> found_;           ///< by state
  std::vector<std::uint16_t> next_;    ///< by state and class
  std::vector<std::uint16_t> starts_;  ///< by choice
};

}  // namespace podrun::output
