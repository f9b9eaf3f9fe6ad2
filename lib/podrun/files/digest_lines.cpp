// SPDX-License-Identifier: Apache-2.0
#include "podrun/files/digest_lines.hpp"

#include <cstddef>

#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"

namespace podrun::files {
namespace {

/// A digest and a path, in which each newline takes two bytes. Linux: PATH_MAX is 4096.
constexpr std::size_t kMaxLine = 16 * 1024;

}  // namespace

void DigestLines::feed(std::string_view bytes) {
  held_ += bytes;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = held_.find('\n', begin);
    if (end == held_.npos) break;
    std::string_view line = std::string_view(held_).substr(begin, end - begin);
    if (line.starts_with('\\')) line.remove_prefix(1);  // its name has a newline, see sha256sum(1)
    take_(take_part(line, ' '));
    begin = end + 1;
  }
  held_.erase(0, begin);
  if (held_.size() > kMaxLine)
    throw link::HostError({link::Stage::copying, link::Cause::unexpected_answer, "an endless line"});
}

}  // namespace podrun::files
