// SPDX-License-Identifier: Apache-2.0
// Output in pieces of any size: the status and the bytes are those of any other split, nothing but one line
// is missing, and little is kept back. The first two bytes seed the split; the nonce is "n".
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/supervisor/protocol.hpp"

#include "fuzz/pieces.hpp"

namespace {

struct Read {
  std::string output;
  std::optional<int> status;
  bool is_repeated = false;
  bool operator==(const Read&) const = default;
};

Read read_pieces(podrun::test::Pieces pieces) {
  constexpr std::string_view kLongest = "~podrun1 n exit 255\n";
  podrun::supervisor::ExitLineReader reader("n");
  Read result;
  std::size_t fed = 0;
  while (!pieces.empty()) {
    const std::string_view piece = pieces.next();
    result.output += reader.feed(podrun::Chunk(std::string(piece))).bytes();
    fed += piece.size();
    const std::size_t taken = reader.status() ? kLongest.size() : 0;
    if (result.output.size() + taken + kLongest.size() < fed) std::abort();
  }
  result.output += reader.finish().bytes();
  if (!reader.finish().empty()) std::abort();
  result.status = reader.status();
  result.is_repeated = reader.is_repeated();
  return result;
}

/// Whether the line of this status, put back somewhere, makes the bytes whole.
bool is_cut_from(const Read& read, const std::string& bytes) {
  const std::size_t size = bytes.size() - read.output.size();
  for (std::size_t at = 0; at <= read.output.size(); ++at) {
    const std::string line = bytes.substr(at, size);
    constexpr std::string_view kStart = "~podrun1 n exit ";
    if (!line.starts_with(kStart) || line.find_first_not_of("0123456789", kStart.size()) != line.size() - 1)
      continue;
    if (std::stoi(line.substr(kStart.size())) != read.status) continue;
    if (bytes.substr(0, at) + bytes.substr(at + size) == read.output) return true;
  }
  return false;
}

void check(const Read& read, std::string_view bytes) {
  if (!read.status && read.output != bytes) std::abort();
  if (read.status && !is_cut_from(read, std::string(bytes))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  podrun::test::read_whole_and_split(data, size, read_pieces, check);
  return 0;
}
