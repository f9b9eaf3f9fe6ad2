// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/log_frames.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"

namespace podrun::jobs {
namespace {

constexpr std::size_t kMaxHeader = 256;
/// Beyond this, positions could not be added up.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60U;

[[noreturn]] void refuse(std::string_view what) {
  throw link::HostError({link::Stage::job_log, link::Cause::unexpected_answer, std::string(what)});
}

std::uint64_t parse(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number > kMostBytes) refuse(digits);
  return *number;
}

}  // namespace

void LogFrames::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_) refuse("more after the end");
    if (left_ > 0) {
      const std::string_view part = bytes.substr(0, left_);
      take_({stream_, position_, part});
      position_ += part.size();
      left_ -= part.size();
      bytes.remove_prefix(part.size());
      continue;
    }
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    header_ += bytes.substr(0, end);
    if (header_.size() > kMaxHeader) refuse("an endless line");
    if (end == bytes.size()) return;
    bytes.remove_prefix(end + 1);
    take_header();
    header_.clear();
  }
}

void LogFrames::take_header() {
  std::string_view rest = header_;
  const std::string_view word = take_part(rest, ' ');
  if (word == "job") {
    number_ = std::to_string(parse(rest));
  } else if (word == "state") {
    state_ = std::string(rest);
  } else if (word == "out" || word == "err") {
    stream_ = word == "out" ? StreamId::out : StreamId::err;
    position_ = parse(take_part(rest, ' '));
    left_ = parse(rest);
    if (left_ == 0) take_({stream_, position_, {}});
  } else {
    refuse(header_);
  }
}

}  // namespace podrun::jobs
