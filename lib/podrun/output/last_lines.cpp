// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/last_lines.hpp"

#include "podrun/output/line_printer.hpp"

namespace podrun::output {
namespace {

constexpr std::size_t kMaxText = 400;

}  // namespace

void LastLines::line(const Line& line) {
  Kept& kept = hosts_[line.host][index_of(line.stream)];
  const std::size_t slot = kept.count++ % kLines;
  kept.lines[slot].assign(last_state(line.text).substr(0, kMaxText));
  kept.numbers[slot] = ++lines_;
}

const LastLines::Kept& LastLines::kept(std::size_t host) const {
  const auto& streams = hosts_[host];
  const Kept& errors = streams[index_of(StreamId::err)];
  return errors.count > 0 ? errors : streams[index_of(StreamId::out)];
}

std::vector<std::string> LastLines::of(std::size_t host) const {
  const Kept& from = kept(host);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < from.size(); ++i) lines.push_back(from.lines[(from.oldest() + i) % kLines]);
  return lines;
}

bool LastLines::are_among_last(std::size_t host, std::uint64_t lines) const {
  const Kept& from = kept(host);
  return from.size() == 0 || lines_ - from.numbers[from.oldest()] < lines;
}

}  // namespace podrun::output
