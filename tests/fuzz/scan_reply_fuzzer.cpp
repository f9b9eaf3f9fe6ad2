// SPDX-License-Identifier: Apache-2.0
// Anything as what a host says of its files: entries of bounded size, a HostError, or an unfinished reply;
// the same in pieces as at once. The first byte chooses the format, and so gets the rest past the header.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "podrun/link/failure.hpp"
#include "podrun/transfer/scan_reply.hpp"

namespace {

constexpr std::size_t kMost = 16 * 1024;

void expect(bool condition) {
  if (!condition) std::abort();
}

std::string read(std::string_view text, std::size_t piece) {
  std::string found;
  podrun::transfer::ScanReply reply([&](const podrun::transfer::HostEntry& entry) {
    expect(entry.path.size() <= kMost && entry.link_target.size() <= kMost && entry.mode <= 07777);
    const std::string framed = "/" + std::string(entry.path) + "/";
    for (const std::string_view odd : {"//", "/./", "/../"})
      expect(entry.path.empty() || framed.find(odd) == framed.npos);
    found += entry.kind;
    found += entry.path;
    found += std::to_string(entry.size + entry.mode) + std::to_string(entry.mtime);
    found += entry.link_target;
  });
  try {
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) reply.feed(text.substr(0, piece));
  } catch (const podrun::link::HostError&) {
    return found + " refused";
  }
  return found + (reply.is_complete() ? " complete" : " unfinished");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::vector<std::string> kHeaders = {"", "target directory b2sum gnu none 1\n",
                                                    "target missing sha256sum stat none 2\n",
                                                    "target directory b2sum gnu gzip 1\n"};
  const std::string reply = kHeaders[data[0] % kHeaders.size()] + std::string(data + 1, data + size);
  const std::string whole = read(reply, reply.size() + 1);
  expect(whole == read(reply, 1));
  expect(whole == read(reply, 7));
  return 0;
}
