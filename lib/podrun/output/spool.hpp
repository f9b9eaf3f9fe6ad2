// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/descriptor.hpp"

namespace podrun::output {

/// The space of a Spool.
struct SpoolSpace {
  std::size_t memory = 64 * 1024 * 1024;  ///< bytes for all streams together
  std::string directory = "/tmp";         ///< for the file with the rest
};

/// Keeps the bytes of many streams until they are read: in memory, and the rest in one unnamed file that
/// vanishes with the Spool.
class Spool {
 public:
  static constexpr std::size_t kBlock = 64 * 1024;

  Spool(std::size_t streams, SpoolSpace space);

  /// False from the first error on: earlier bytes stay, these are dropped.
  bool append(std::size_t stream, std::string_view bytes);

  /// Passes the stream's bytes to `take` in order, at most kBlock at once, until it returns false. Returns
  /// false if they cannot be read.
  bool read(std::size_t stream, const std::function<bool(std::string_view)>& take);

  /// `a temporary file in /tmp: No space left on device`
  const std::string* error() const { return error_ ? &*error_ : nullptr; }

 private:
  struct Extent {
    std::uint64_t offset;
    std::size_t size;
  };
  struct Kept {
    std::vector<Extent> in_file;
    std::vector<std::string> in_memory;  ///< after the bytes in the file: full blocks and a last one
  };

  static void keep(std::vector<std::string>& blocks, std::string_view bytes);
  bool spill();
  bool spill(Kept& kept);
  bool fail();

  const SpoolSpace space_;
  std::vector<Kept> streams_;
  std::size_t in_memory_ = 0;  ///< bytes
  Descriptor file_;
  std::uint64_t file_size_ = 0;
  std::string block_;
  std::optional<std::string> error_;
};

}  // namespace podrun::output
