// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/output/file.hpp"

namespace podrun {

/// Where a Spool keeps its bytes.
struct SpoolSpace {
  std::size_t memory = 64 * 1024 * 1024;  ///< bytes of all streams together
  std::string directory = "/tmp";         ///< of the file that takes what is more
};

/// Keeps the bytes of many streams until they are read: in memory, and beyond that in one file that has no
/// name and goes with it.
class Spool {
 public:
  static constexpr std::size_t kBlock = 64 * 1024;

  Spool(std::size_t streams, SpoolSpace space);

  /// False from the first error on: what was taken until then stays, these bytes are dropped.
  bool append(std::size_t stream, std::string_view bytes);

  /// Gives `take` the stream's bytes in order, at most kBlock of them at once, until it returns false. False
  /// if they cannot be read.
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
    std::vector<std::string> in_memory;  ///< what follows: full blocks and a last one
  };

  static void keep(std::vector<std::string>& blocks, std::string_view bytes);
  bool spill();
  bool spill(Kept& kept);
  bool fail();

  const SpoolSpace space_;
  std::vector<Kept> streams_;
  std::size_t in_memory_ = 0;  ///< bytes
  std::optional<File> file_;
  std::uint64_t file_size_ = 0;
  std::string block_;
  std::optional<std::string> error_;
};

}  // namespace podrun
