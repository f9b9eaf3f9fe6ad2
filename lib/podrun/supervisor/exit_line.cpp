// SPDX-License-Identifier: Apache-2.0
// Finds the line with the exit status in a stream of output. Output without it is neither copied nor delayed:
// a line starts with "~", which output hardly ever ends in, and not with the newline that all of it ends in.
#include "podrun/supervisor/exit_line.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace podrun::supervisor {
namespace {

constexpr char kFirst = '~';
constexpr std::size_t kMaxDigits = 3;
constexpr int kMaxStatus = 255;
constexpr std::string_view kDigits = "0123456789";

/// memmem(3) skips over most of the text; string_view::find compares at every `~`.
std::size_t position_of(std::string_view text, std::string_view what, std::size_t from) {
  const void* found = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.npos;
}

}  // namespace

ExitLineReader::ExitLineReader(std::string_view nonce)
    : start_(fmt::format("{}podrun1 {} exit ", kFirst, nonce)) {}

Chunk ExitLineReader::feed(Chunk chunk) {
  const std::string_view bytes = chunk.bytes();
  if (is_repeated_ ||
      (held_.empty() && position_of(bytes, start_, 0) == bytes.npos && possible_start(bytes) == bytes.size()))
    return chunk;
  std::string text = std::exchange(held_, {}).append(bytes);
  const std::size_t after = take_line(text);
  if (!is_repeated_) {
    const std::size_t start = after + possible_start(std::string_view(text).substr(after));
    held_ = text.substr(start);
    text.resize(start);
  }
  return Chunk(std::move(text));
}

Chunk ExitLineReader::finish() { return Chunk(std::exchange(held_, {})); }

/// Takes the first line out, and sees a second one, which stays. Returns where the text after the first one
/// begins: what stands before it belongs to no line any more.
std::size_t ExitLineReader::take_line(std::string& text) {
  std::size_t after = 0;
  for (std::size_t at = 0, next = 0; (at = position_of(text, start_, next)) != text.npos;) {
    next = at + 1;
    const std::size_t begin = at + start_.size();
    const std::size_t end = text.find_first_not_of(kDigits, begin);
    if (end == text.npos) break;
    if (text[end] != '\n' || end == begin || end - begin > kMaxDigits) continue;
    const int status = std::stoi(text.substr(begin, end - begin));
    if (status > kMaxStatus) continue;
    is_repeated_ = status_.has_value();
    if (is_repeated_) break;
    status_ = status;
    text.erase(at, end + 1 - at);
    after = next = at;
  }
  return after;
}

/// Where the end of the text may be the beginning of the line; else its size.
std::size_t ExitLineReader::possible_start(std::string_view text) const {
  const std::size_t longest = start_.size() + kMaxDigits;
  std::size_t at = text.size() - std::min(text.size(), longest);
  while ((at = text.find(kFirst, at)) != text.npos) {
    const std::string_view end = text.substr(at);
    const std::string_view digits = end.substr(std::min(end.size(), start_.size()));
    if (start_.starts_with(end.substr(0, start_.size())) && digits.find_first_not_of(kDigits) == digits.npos)
      return at;
    ++at;
  }
  return text.size();
}

}  // namespace podrun::supervisor
