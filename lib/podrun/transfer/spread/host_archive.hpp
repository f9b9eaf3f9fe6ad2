// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/transfer/archive.hpp"

namespace podrun::transfer {

/// An archive of files that a host has: the heads are made here, the contents come from relay_files.py there.
class HostArchive final : public Archive {
 public:
  /// Sends a frame to relay_files.py.
  using Ask = std::function<void(std::string frame)>;

  HostArchive(const LocalTree& tree, std::vector<std::size_t> chosen);

  /// The host can be asked from now on, until lost().
  void begin(Ask ask);
  void lost() { ask_ = {}; }

  bool prepare(std::uint64_t offset) override;
  /// Asks for a digest.
  void want_digest(DigestKind kind);
  std::optional<std::string> digest(DigestKind kind) override;
  bool wants_digest() const;  ///< one is missing
  bool wants_data() const { return !asked_.empty(); }

  /// The bytes of the frame "plan", see relay_files.py.
  std::string plan() const;
  /// Takes an answer to "give"; false if it was not asked for.
  bool take_data(std::uint64_t offset, std::string_view bytes);
  void take_digest(DigestKind kind, std::string digest);
  /// The sum that podrun sends to hosts for a part of the archive, see "heads" in relay.py: made of `sum`,
  /// the SHA-256 of this part, and of its heads. Both sums in bytes.
  std::string sum_with_heads(std::uint64_t begin, std::uint64_t end, std::string_view sum) const;

 private:
  void append_content(std::size_t member, std::uint64_t from, std::uint64_t to, std::string& bytes) override;
  void ask(std::uint64_t index);

  Ask ask_ = {};
  std::set<std::uint64_t> asked_ = {};              ///< blocks
  std::map<DigestKind, std::string> digests_ = {};  ///< empty: it was asked for, or will be
  std::string_view arrived_ = {};                   ///< the block that is being taken
};

}  // namespace podrun::transfer
