// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace podrun {

/// An open file; a negative descriptor is none. Where a call fails, errno says why.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// Writes all of it; after a failure some of it may have been written.
  bool write(std::string_view bytes);
  /// Some file systems say only here that they are full.
  bool close();

 private:
  int descriptor_;
};

}  // namespace podrun
