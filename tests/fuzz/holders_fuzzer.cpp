// SPDX-License-Identifier: Apache-2.0
// Anything as what a host says of the processes that hold an output open: a few short lines of it, and the
// number of the others.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podrun/supervisor/protocol.hpp"

namespace {

constexpr std::size_t kNamed = 8;

void expect(bool condition) {
  if (!condition) std::abort();
}

/// How many there are, also of those that are only counted.
std::size_t count(const podrun::supervisor::Holders& holders) { return holders.named.size() + holders.more; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const podrun::supervisor::Holders holders = podrun::supervisor::parse_holders(text);
  expect(holders.named.size() <= kNamed && (holders.more == 0 || holders.named.size() == kNamed));
  for (const podrun::supervisor::Holder& holder : holders.named) {
    const std::string line =
        holder.pid + " (" + holder.name + ")" + (holder.stuck_at.empty() ? "" : " " + holder.stuck_at);
    expect(line.size() <= 64 && line.find('\n') == std::string::npos);
    expect(text.find(line + '\n') != std::string::npos);
  }
  expect(count(podrun::supervisor::parse_holders(text + "\n7 (x)\n")) >= count(holders) + 1);
  expect(count(podrun::supervisor::parse_holders("7 (x)\n" + text)) == count(holders) + 1);
  return 0;
}
