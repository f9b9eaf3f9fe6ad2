// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/line_splitter.hpp"

#include <algorithm>

namespace podrun::output {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kAllHosts = 64 * kKiB * kKiB;

}  // namespace

std::size_t line_limit(std::size_t hosts) {
  return std::clamp(kAllHosts / std::max<std::size_t>(hosts, 1), 64 * kKiB, 1024 * kKiB);
}

std::optional<SplitLine> LineSplitter::next(std::string_view& bytes) {
  forget_delivered();
  const std::size_t room = limit_ - kept_.size();
  const std::size_t newline = bytes.substr(0, room + 1).find('\n');
  if (newline != std::string_view::npos) {
    const std::string_view part = bytes.substr(0, newline);
    bytes.remove_prefix(newline + 1);
    return complete(part, LineEnd::newline);
  }
  if (bytes.size() > room) {
    const std::string_view part = bytes.substr(0, room);
    bytes.remove_prefix(room);
    return complete(part, LineEnd::piece);
  }
  keep(bytes);
  bytes = {};
  return std::nullopt;
}

std::optional<SplitLine> LineSplitter::end() {
  forget_delivered();
  if (kept_.empty()) return std::nullopt;
  return complete({}, LineEnd::end_of_stream);
}

SplitLine LineSplitter::complete(std::string_view last_part, LineEnd end) {
  if (kept_.empty()) return {last_part, end};
  keep(last_part);
  delivered_ = true;
  return {{kept_.data(), kept_.size()}, end};
}

void LineSplitter::keep(std::string_view bytes) {
  const std::size_t size = kept_.size() + bytes.size();
  // Doubling alone would let the capacity pass the limit.
  if (size > kept_.capacity()) kept_.reserve(std::min(limit_, std::max(size, 2 * kept_.capacity())));
  kept_.insert(kept_.end(), bytes.begin(), bytes.end());
}

void LineSplitter::forget_delivered() {
  if (delivered_) kept_.clear();
  delivered_ = false;
}

}  // namespace podrun::output
