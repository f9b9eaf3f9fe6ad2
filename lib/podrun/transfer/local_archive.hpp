// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/transfer/archive.hpp"
#include "podrun/transfer/source_file.hpp"

namespace podrun::transfer {

/// An archive of local files.
class LocalArchive final : public Archive {
 public:
  LocalArchive(const LocalTree& tree, std::vector<std::size_t> chosen);

  Chunk read(std::uint64_t offset, DigestKind kind) override;
  std::optional<std::string> digest(DigestKind kind) override;
  asio::awaitable<void> finish_digest(DigestKind kind) override;
  /// The bytes of the archive that are in the digest of this kind.
  std::uint64_t digested(DigestKind kind);

 private:
  /// The digests of one kind.
  struct Digests {
    std::size_t size;          ///< in hex
    std::string of_members;    ///< in hex; NULs for empty files
    Digest unfinished;         ///< of the first file that is not completely digested
    std::uint64_t blocks = 0;  ///< that these cover
    std::string whole = {};    ///< digest(), when it is known
  };

  Digests& digests(DigestKind kind);
  void add_to_digests(DigestKind kind, std::string_view bytes);
  void append_content(std::size_t member, std::uint64_t from, std::uint64_t to, std::string& bytes) override;

  std::map<DigestKind, Digests> digests_;
  std::optional<SourceFile> file_;  ///< the member that was read last
  std::size_t open_member_;
};

}  // namespace podrun::transfer
