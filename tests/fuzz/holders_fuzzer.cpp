// SPDX-License-Identifier: Apache-2.0
// Anything as what a host says of the processes that hold an output open: a few short lines of it, and the
// number of the others.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "podrun/remote/protocol.hpp"

namespace {

constexpr std::size_t kNamed = 8;

void expect(bool condition) {
  if (!condition) std::abort();
}

/// How many there are, also of those that are only counted.
unsigned long count(const std::vector<std::string>& holders) {
  if (holders.size() <= kNamed) return holders.size();
  return kNamed + std::stoul(holders.back().substr(4));  // and 12 more
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const std::vector<std::string> holders = podrun::parse_holders(text);
  expect(holders.size() <= kNamed + 1);
  for (std::size_t i = 0; i < holders.size() && i < kNamed; ++i) {
    expect(holders[i].size() <= 64 && holders[i].find('\n') == std::string::npos);
    expect(text.find(holders[i] + '\n') != std::string::npos);
  }
  expect(count(podrun::parse_holders(text + "\n7 (x)\n")) >= count(holders) + 1);
  expect(count(podrun::parse_holders("7 (x)\n" + text)) == count(holders) + 1);
  return 0;
}
