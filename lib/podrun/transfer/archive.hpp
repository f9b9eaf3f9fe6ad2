// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/transfer/digest.hpp"
#include "podrun/transfer/local_tree.hpp"

namespace podrun::transfer {

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
  virtual ~Archive() = default;

  std::uint64_t size() const;
  /// Returns true if read() may be called for this offset; otherwise asks for the bytes.
  virtual bool prepare(std::uint64_t offset);
  /// At most kBlock bytes from `offset`; empty at the end. They go into the digest of this kind if they are
  /// what follows in it. Throws LocalFileError.
  virtual Chunk read(std::uint64_t offset, DigestKind kind);
  /// The digest of the digests of all files that their owner may read, each in hex with a newline: first
  /// files of kLarge bytes and more, then the others, in the order of their paths as bytes. None if it is
  /// not known, see finish_digest().
  virtual std::optional<std::string> digest(DigestKind kind) = 0;
  /// Reads what is missing in the digest. Throws LocalFileError.
  virtual asio::awaitable<void> finish_digest(DigestKind kind);

  static constexpr std::size_t kBlock = 256 * 1024;
  static constexpr std::uint64_t kLarge = 16 * 1024 * 1024;

 protected:
  const LocalTree& tree() const { return tree_; }
  const Entry& entry(std::size_t member) const { return tree_.entries()[chosen_[member]]; }
  std::size_t members() const { return chosen_.size(); }
  /// The member at this offset.
  std::size_t member_at(std::uint64_t offset) const;
  /// It is a file that its owner may read: otherwise no host can compute its digest.
  bool has_digest(std::size_t member) const;
  std::string head(std::size_t member) const;
  std::uint64_t offset(std::size_t member) const { return offsets_[member]; }
  std::uint64_t content_at(std::size_t member) const;  ///< offset
  std::uint64_t content_size(std::size_t member) const;
  /// The SHA-256, in bytes, of what is in heads between two offsets.
  std::string sum_of_heads(std::uint64_t begin, std::uint64_t end) const;

  /// Keeps as many blocks as for several readers.
  void keep_many() { capacity_ = kShared; }
  bool has(std::uint64_t index) const;  ///< the block is kept
  Chunk block(std::uint64_t index);

 private:
  static constexpr std::size_t kShared = 64;  ///< blocks that are kept for several readers: 16 MiB

  struct Cached {
    Chunk block;
    std::uint64_t used = 0;  ///< the number of the last use
  };

  /// Appends the bytes of a file between two of its offsets, to the beginning of the block that they are in.
  virtual void append_content(std::size_t member, std::uint64_t from, std::uint64_t to,
                              std::string& bytes) = 0;

  Chunk compute(std::uint64_t index);
  void append_member(std::size_t member, std::uint64_t from, std::uint64_t to, std::string& bytes);
  void cache(std::uint64_t index, const Chunk& block);

  const LocalTree& tree_;
  std::vector<std::size_t> chosen_;
  std::vector<std::uint64_t> offsets_;  ///< where each member begins, and where the last one ends
  std::map<std::uint64_t, Cached> cache_;
  std::size_t capacity_ = 1;    ///< of the cache, in blocks; more with a second reader
  std::uint64_t computed_ = 0;  ///< blocks, up to the furthest one
  std::uint64_t uses_ = 0;
};

/// A file as a member for the trailer, and the end of an archive.
std::string tar_member(std::string_view name, std::string_view content);
std::string_view end_of_archive();

}  // namespace podrun::transfer
