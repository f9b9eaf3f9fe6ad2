// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "podrun/base/descriptor.hpp"
#include "podrun/transfer/local_tree.hpp"

namespace podrun::transfer {

/// A local file changed, vanished or could not be read while it was sent; what() says which and how.
class LocalFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file of a tree that is open for reading. Throws LocalFileError if another file has its name, or it is
/// not as it was when the tree was read: checked before the first byte and after the last one.
class SourceFile {
 public:
  SourceFile(const LocalTree& tree, const Entry& entry);

  /// Appends the bytes between two offsets.
  void read(std::uint64_t from, std::uint64_t to, std::string& bytes) const;

 private:
  void check() const;

  std::string path_;
  std::uint64_t size_;
  std::int64_t mtime_;
  Identity identity_;
  Descriptor file_;
};

}  // namespace podrun::transfer
