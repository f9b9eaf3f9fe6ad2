// SPDX-License-Identifier: Apache-2.0
// Reads the frames of logs.sh. Their positions say where to go on after a lost connection; so matching lines,
// which have no positions of their own, are kept until the frame is whole.
#include "podrun/jobs/log_frames.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"
#include "podrun/jobs/job_failures.hpp"
#include "podrun/link/failure.hpp"

namespace podrun::jobs {
namespace {

constexpr std::size_t kMaxHeader = 256;
/// With more, sums of positions could overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60U;
constexpr std::uint64_t kMostSeconds = std::uint64_t{1} << 32U;
/// The most bytes of matching lines in a frame: logs.sh searches 1 MiB at a time, and grep ends the last
/// line.
constexpr std::uint64_t kMostKept = (std::uint64_t{1} << 20U) + 1;

[[noreturn]] void refuse_frame(std::string_view what) {
  throw link::HostError({kJobLog, link::Cause::unexpected_answer, std::string(what)});
}

std::uint64_t parse_number(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number > kMostBytes) refuse_frame(digits);
  return *number;
}

}  // namespace

void LogFrames::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_) refuse_frame("more after the end");
    if (left_ > 0) {
      const std::string_view part = bytes.substr(0, left_);
      take_bytes(part);
      bytes.remove_prefix(part.size());
      continue;
    }
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    header_ += bytes.substr(0, end);
    if (header_.size() > kMaxHeader) refuse_frame("an endless line");
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
    number_ = std::to_string(parse_number(rest));
  } else if (word == "state") {
    state_ = std::string(rest);
  } else if (word == "out" || word == "err") {
    take_frame(word == "out" ? StreamId::out : StreamId::err, rest);
  } else if (word == "at") {
    take_note(rest);
  } else {
    refuse_frame(header_);
  }
}

void LogFrames::take_frame(StreamId stream, std::string_view numbers) {
  stream_ = stream;
  position_ = parse_number(take_part(numbers, ' '));
  left_ = parse_number(take_part(numbers, ' '));
  next_.reset();
  if (!numbers.empty()) {
    next_ = parse_number(numbers);
    if (*next_ < position_ || left_ > kMostKept) refuse_frame(header_);
  }
  if (left_ == 0) take_({stream_, position_, {}, next_.value_or(position_)});
}

void LogFrames::take_note(std::string_view numbers) {
  const std::uint64_t age = std::min(parse_number(take_part(numbers, ' ')), kMostSeconds);
  const std::uint64_t out = parse_number(take_part(numbers, ' '));
  note_({std::chrono::seconds(age), out, parse_number(numbers)});
}

void LogFrames::take_bytes(std::string_view part) {
  left_ -= part.size();
  if (next_) {
    kept_ += part;
    if (left_ > 0) return;
    take_({stream_, position_, kept_, *next_});
    kept_.clear();
    kept_.shrink_to_fit();
  } else {
    take_({stream_, position_, part, position_ + part.size()});
    position_ += part.size();
  }
}

}  // namespace podrun::jobs
