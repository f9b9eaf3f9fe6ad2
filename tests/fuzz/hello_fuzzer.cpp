// SPDX-License-Identifier: Apache-2.0
// What a host prints, in pieces of any size: noise, hello and output are those of any other split, little is
// held back, and any hello is ready or a refusal. The first two bytes seed the split.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/remote/protocol.hpp"

namespace {

constexpr std::size_t kMostHeld = 8 * 1024;

struct Read {
  std::string noise;
  std::string hello;
  std::string rest;
  bool operator==(const Read&) const = default;
};

template <typename NextSize>
std::optional<Read> read(std::string_view bytes, NextSize next_size) try {
  podrun::HelloReader reader("n");
  Read result;
  while (!bytes.empty() && !reader.hello()) {
    const std::size_t size = std::min(bytes.size(), next_size());
    result.noise += reader.feed(bytes.substr(0, size));
    bytes.remove_prefix(size);
    if (!reader.hello() && reader.rest().size() > kMostHeld) std::abort();
  }
  if (const auto& hello = reader.hello()) {
    result.hello =
        hello->word + '\n' + hello->client_address + '\n' + hello->server_address + '\n' + hello->rest;
    result.rest = reader.rest() + std::string(bytes);
    const auto refused = podrun::refusal(*hello, {.mark = "m", .directory = "d"});
    if (refused.has_value() == (hello->word == "ready")) std::abort();
    if (refused && (refused->stage.empty() || podrun::is_refusal(*refused) == (refused->stage == "hello")))
      std::abort();
  } else {
    result.noise += reader.finish();
    if (!reader.finish().empty()) std::abort();
  }
  return result;
} catch (const podrun::HostError&) {
  return std::nullopt;  // the first line is too long
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
  if (whole && whole->hello.empty() && whole->noise != bytes) std::abort();
  if (whole && !bytes.starts_with(whole->noise)) std::abort();
  if (whole && !bytes.ends_with(whole->rest)) std::abort();
  return 0;
}
