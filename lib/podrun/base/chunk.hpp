// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// The two output streams of a command.
enum class StreamId { out, err };

inline constexpr std::size_t kStreams = 2;
inline std::size_t index_of(StreamId stream) { return stream == StreamId::out ? 0 : 1; }

/// Shared immutable bytes: copying a Chunk copies a pointer, so broadcast and output never copy per host.
class Chunk {
 public:
  /// The most bytes in one chunk.
  static constexpr std::size_t kMaxSize = 32 * 1024;

  Chunk() = default;
  explicit Chunk(std::string bytes) : bytes_(std::make_shared<const std::string>(std::move(bytes))) {}

  std::string_view bytes() const { return bytes_ ? std::string_view(*bytes_) : std::string_view(); }
  std::size_t size() const { return bytes().size(); }
  bool empty() const { return size() == 0; }

 private:
  std::shared_ptr<const std::string> bytes_;
};

/// Cuts `bytes` into chunks of at most Chunk::kMaxSize; empty for no bytes.
inline std::vector<Chunk> to_chunks(std::string_view bytes) {
  std::vector<Chunk> chunks;
  for (; !bytes.empty(); bytes.remove_prefix(chunks.back().size()))
    chunks.emplace_back(std::string(bytes.substr(0, Chunk::kMaxSize)));
  return chunks;
}

}  // namespace podrun
