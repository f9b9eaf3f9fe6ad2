// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/chunk.hpp"

namespace podrun {

std::vector<Chunk> to_chunks(std::string_view bytes) {
  std::vector<Chunk> chunks;
  for (; !bytes.empty(); bytes.remove_prefix(chunks.back().size())) {
    chunks.emplace_back(std::string(bytes.substr(0, Chunk::kMaxSize)));
  }
  return chunks;
}

}  // namespace podrun
