// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace podrun::test {

/// Bytes that come in pieces: all at once, or with a seed in pieces of 1 to 64 bytes.
class Pieces {
 public:
  explicit Pieces(std::string_view bytes, std::optional<unsigned> seed = {}) : rest_(bytes), seed_(seed) {}

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view next() {
    const std::string_view piece = rest_.substr(0, next_size());
    rest_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::size_t next_size() {
    if (!seed_) return rest_.size();
    *seed_ = *seed_ * 1103515245U + 12345U;
    return std::size_t{1} + (*seed_ >> 16U) % 64;
  }

  std::string_view rest_;
  std::optional<unsigned> seed_;
};

/// Has `read(Pieces)` read an input, whose first two bytes seed the split, whole and split. Aborts when the
/// results differ; else it calls `check(result, bytes)`.
template <typename Read, typename Check>
void read_whole_and_split(const std::uint8_t* data, std::size_t size, Read read, Check check) {
  if (size < 2) return;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto whole = read(Pieces(bytes));
  if (whole != read(Pieces(bytes, data[0] * 256U + data[1]))) std::abort();
  check(whole, bytes);
}

}  // namespace podrun::test
