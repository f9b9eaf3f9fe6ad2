// SPDX-License-Identifier: Apache-2.0
// Output in pieces of any size: the status and the bytes are those of any other split, nothing but one line
// is missing, and little is held back. The first two bytes seed the split; the nonce is "n".
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/remote/exit_line.hpp"

namespace {

struct Read {
  std::string output;
  std::optional<int> status;
  bool operator==(const Read&) const = default;
};

template <typename NextSize>
Read read(std::string_view bytes, NextSize next_size) {
  constexpr std::size_t kMostHeld = 32;
  podrun::ExitLineReader reader("n");
  Read result;
  std::size_t fed = 0;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), next_size());
    result.output += reader.feed(podrun::Chunk(std::string(bytes.substr(0, size)))).bytes();
    bytes.remove_prefix(size);
    fed += size;
    if (result.output.size() + kMostHeld < fed) std::abort();
  }
  result.output += reader.finish().bytes();
  if (!reader.finish().empty()) std::abort();
  result.status = reader.status();
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes(data + 2, data + size);
  unsigned state = data[0] * 256U + data[1];
  const auto whole = read(bytes, [&] { return std::max<std::size_t>(bytes.size(), 1); });
  const auto split = read(bytes, [&] {
    state = state * 1103515245U + 12345U;
    return std::size_t{1} + (state >> 16U) % 64;
  });
  if (whole != split) std::abort();
  if (!whole.status && whole.output != bytes) std::abort();
  if (whole.status && !is_cut_from(whole, bytes)) std::abort();
  return 0;
}
