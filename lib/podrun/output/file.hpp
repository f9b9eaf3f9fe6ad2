// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace podrun::output {

/// An open file; a negative descriptor is none. If a call fails, errno says why.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// Writes all bytes; after a failure some of them may have been written.
  bool write(std::string_view bytes);
  /// Some file systems report only here that they are full.
  bool close();

 private:
  int descriptor_;
};

}  // namespace podrun::output
