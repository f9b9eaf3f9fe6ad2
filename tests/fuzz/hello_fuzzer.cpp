// SPDX-License-Identifier: Apache-2.0
// Splits a host's output into pieces of any size. The noise, hello and output found must not depend on the
// split, little is buffered, and any hello is ready or a refusal. The first two bytes seed the split.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/supervisor/protocol.hpp"

#include "fuzz/pieces.hpp"

namespace {

constexpr std::size_t kMostHeld = 8 * 1024;

struct Read {
  std::string noise;
  std::string hello;
  std::string rest;
  bool operator==(const Read&) const = default;
};

std::optional<Read> read_pieces(podrun::test::Pieces pieces) try {
  podrun::supervisor::HelloReader reader("n");
  Read result;
  while (!pieces.empty() && !reader.hello()) {
    result.noise += reader.feed(pieces.next());
    if (!reader.hello() && reader.rest().size() > kMostHeld) std::abort();
  }
  if (const auto& hello = reader.hello()) {
    result.hello =
        hello->word + '\n' + hello->client_address + '\n' + hello->server_address + '\n' + hello->rest;
    result.rest = reader.rest() + std::string(pieces.rest());
    const auto refused = podrun::supervisor::refusal(
        *hello, {.mark = "m", .directory = "d", .preparations = {podrun::supervisor::clean_up()}});
    if (refused.has_value() == (hello->word == "ready")) std::abort();
    if (refused && podrun::supervisor::is_refusal(*refused) == (refused->stage == podrun::link::Stage::hello))
      std::abort();
  } else {
    result.noise += reader.finish();
    if (!reader.finish().empty()) std::abort();
  }
  return result;
} catch (const podrun::link::HostError&) {
  return std::nullopt;  // the first line is too long
}

void check(const std::optional<Read>& read, std::string_view bytes) {
  if (!read) return;
  if (read->hello.empty() && read->noise != bytes) std::abort();
  if (!bytes.starts_with(read->noise)) std::abort();
  if (!bytes.ends_with(read->rest)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  podrun::test::read_whole_and_split(data, size, read_pieces, check);
  return 0;
}
