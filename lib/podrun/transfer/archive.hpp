// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/base/descriptor.hpp"
#include "podrun/transfer/digest.hpp"
#include "podrun/transfer/local_tree.hpp"

namespace podrun::transfer {

/// A local file changed, vanished or could not be read while it was sent; what() says which and how.
class LocalFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A tar archive that is never stored: any part of it is computed from the entries and the files, so each
/// host reads it at its own pace. It has no end, since a trailer follows. In GNU's format (tar(5)): busybox
/// knows its long names, big sizes and times before 1970, but not pax's.
class Archive {
 public:
  /// `chosen`: indices of entries, ascending; the tree must outlive this. Paths in the archive begin with
  /// "new/". Files and directories have their modes, but owners may do everything in directories.
  Archive(const LocalTree& tree, std::vector<std::size_t> chosen);
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  std::uint64_t size() const;
  /// At most kBlock bytes from `offset`; empty at the end. They go into the digest of this kind if they are
  /// what follows in it. Throws LocalFileError.
  Chunk read(std::uint64_t offset, DigestKind kind);
  /// The digest of the digests of all files that their owner may read, each in hex with a newline: first
  /// files of kLarge bytes and more, then the others, in the order of their paths as bytes. A reader with
  /// this kind must have read everything before, see digested().
  const std::string& digest(DigestKind kind);
  /// The bytes of the archive that are in the digest of this kind.
  std::uint64_t digested(DigestKind kind);

  static constexpr std::size_t kBlock = 256 * 1024;
  static constexpr std::uint64_t kLarge = 16 * 1024 * 1024;

 private:
  struct Cached {
    Chunk block;
    std::uint64_t used = 0;  ///< the number of the last use
  };

  /// The digests of one kind.
  struct Digests {
    std::size_t size;          ///< in hex
    std::string of_members;    ///< in hex; NULs for empty files
    Digest unfinished;         ///< of the first file that is not completely digested
    std::uint64_t blocks = 0;  ///< that these cover
    std::string whole = {};    ///< digest(), when it is known
  };

  Digests& digests(DigestKind kind);
  Chunk block(std::uint64_t index);
  Chunk compute(std::uint64_t index);
  std::size_t member_at(std::uint64_t offset) const;
  void append_member(std::size_t member, std::uint64_t from, std::uint64_t to, std::string& bytes);
  void add_to_digests(DigestKind kind, std::string_view bytes);
  void append_content(std::size_t member, std::uint64_t from, std::uint64_t to, std::string& bytes);
  void open_file(std::size_t member);
  void check_file(const Entry& entry) const;
  void cache(std::uint64_t index, const Chunk& block);
  const Entry& entry(std::size_t member) const { return tree_.entries()[chosen_[member]]; }

  const LocalTree& tree_;
  std::vector<std::size_t> chosen_;
  std::vector<std::uint64_t> offsets_;  ///< where each member begins, and where the last one ends
  std::map<DigestKind, Digests> digests_;
  std::map<std::uint64_t, Cached> cache_;
  std::size_t capacity_ = 1;    ///< of the cache, in blocks; more with a second reader
  std::uint64_t computed_ = 0;  ///< blocks, up to the furthest one
  std::uint64_t uses_ = 0;
  Descriptor file_;  ///< of the member that was read last
  std::size_t open_member_;
};

/// A file as a member for the trailer, and the end of an archive.
std::string tar_member(std::string_view name, std::string_view content);
std::string_view end_of_archive();

}  // namespace podrun::transfer
