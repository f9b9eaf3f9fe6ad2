// SPDX-License-Identifier: Apache-2.0
// A host's side of the supervisor's protocol, the first byte says which part of it: the hello, the processes
// that hold an output open, the line with the exit status. What is found must not depend on how the bytes are
// split, and little is kept back. The nonce is "n".
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/supervisor/protocol.hpp"

#include "fuzz/pieces.hpp"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

/// The noise, hello and output; any hello is ready or a refusal.
namespace hello {

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

void test(const std::uint8_t* data, std::size_t size) {
  podrun::test::read_whole_and_split(data, size, read_pieces, check);
}

}  // namespace hello

/// A few short lines of it, and the number of the others.
namespace holders {

constexpr std::size_t kNamed = 8;

/// How many there are, also of those that are only counted.
std::size_t count(const podrun::supervisor::Holders& holders) { return holders.named.size() + holders.more; }

void test(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const podrun::supervisor::Holders found = podrun::supervisor::parse_holders(text);
  expect(found.named.size() <= kNamed && (found.more == 0 || found.named.size() == kNamed));
  for (const podrun::supervisor::Holder& holder : found.named) {
    const std::string line =
        holder.pid + " (" + holder.name + ")" + (holder.stuck_at.empty() ? "" : " " + holder.stuck_at);
    expect(line.size() <= 64 && line.find('\n') == std::string::npos);
    expect(text.find(line + '\n') != std::string::npos);
  }
  expect(count(podrun::supervisor::parse_holders(text + "\n7 (x)\n")) >= count(found) + 1);
  expect(count(podrun::supervisor::parse_holders("7 (x)\n" + text)) == count(found) + 1);
}

}  // namespace holders

/// Nothing but one line is missing from the output.
namespace exit_line {

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

void test(const std::uint8_t* data, std::size_t size) {
  podrun::test::read_whole_and_split(data, size, read_pieces, check);
}

}  // namespace exit_line

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr void (*kTests[])(const std::uint8_t*, std::size_t) = {hello::test, holders::test,
                                                                  exit_line::test};
  kTests[data[0] % std::size(kTests)](data + 1, size - 1);
  return 0;
}
