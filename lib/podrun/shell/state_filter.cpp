// SPDX-License-Identifier: Apache-2.0
// Finds the lines with a host's state in its output. As in exit_line.cpp, other output is neither copied nor
// delayed, since these lines begin with a character that output hardly ever ends in.
#include "podrun/shell/state_filter.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/base64.hpp"

namespace podrun::shell {
namespace {

constexpr char kFirst = '~';
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kMostReported = 256 * 1024;

}  // namespace

StateFilter::StateFilter(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) hosts_.push_back({.start = fmt::format("{}podrun1 {} ", kFirst, id)});
}

Chunk StateFilter::pass(std::size_t host, Chunk bytes) {
  Reading& reading = hosts_[host];
  if (reading.held.empty() && bytes.bytes().find(reading.start) == std::string_view::npos &&
      possible_start(reading, bytes.bytes()) == bytes.size())
    return bytes;
  std::string text = std::exchange(reading.held, {}).append(bytes.bytes());
  take_lines(reading, text);
  const std::size_t start = possible_start(reading, text);
  reading.held = text.substr(start);
  text.resize(start);
  return Chunk(std::move(text));
}

Chunk StateFilter::finish(std::size_t host) { return Chunk(std::exchange(hosts_[host].held, {})); }

std::optional<KeptState> StateFilter::state_of(std::size_t host) const {
  if (!hosts_[host].complete || hosts_[host].in_doubt) return std::nullopt;
  const std::optional<std::string> bytes = from_base64(hosts_[host].reported);
  return bytes ? parse_kept_state(*bytes) : std::nullopt;
}

void StateFilter::take_lines(Reading& reading, std::string& text) {
  const std::string& start = reading.start;
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) return;
    const std::string part = text.substr(at + start.size(), end - at - start.size());
    if (reading.complete) {
      reading.in_doubt = true;
      at = end + 1;
      continue;
    }
    text.erase(at, end + 1 - at);
    reading.complete = part == ".";
    if (!reading.complete && reading.reported.size() < kMostReported) reading.reported += part;
  }
}

/// Where the end of the text may be the beginning of a line of ours; else its size.
std::size_t StateFilter::possible_start(const Reading& reading, std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  std::size_t at = newline == std::string_view::npos ? 0 : newline + 1;
  at = std::max(at, text.size() - std::min(text.size(), kLongestLine));
  while ((at = text.find(kFirst, at)) != std::string_view::npos) {
    const std::string_view end = text.substr(at, reading.start.size());
    if (std::string_view(reading.start).starts_with(end)) return at;
    ++at;
  }
  return text.size();
}

}  // namespace podrun::shell
