// SPDX-License-Identifier: Apache-2.0
// Finds when the host got a byte of a job's output: it notes the sizes of both streams every two seconds.
#include "podrun/jobs/log_times.hpp"

#include <chrono>
#include <iterator>

#include <fmt/chrono.h>

namespace podrun::jobs {
namespace {

/// podrun asks for fewer; a host may send anything.
constexpr std::size_t kMostEntries = 10000;

}  // namespace

void LogTimes::add(const LogNote& note, output::WallTime now) {
  const std::array<std::uint64_t, kStreams> sizes = {note.out, note.err};
  if (sizes[0] <= last_sizes_[0] && sizes[1] <= last_sizes_[1]) return;
  last_sizes_ = sizes;
  entries_.push_back({now - note.age, sizes});
  if (entries_.size() > kMostEntries) entries_.pop_front();
}

std::string LogTimes::stamp(StreamId stream, std::uint64_t position, std::string_view bytes,
                            output::WallTime now) {
  const std::size_t index = index_of(stream);
  Place& place = places_.at(index);
  auto entry = entries_.cbegin();
  std::string stamped;
  for (const char c : bytes) {
    if (place == Place::line_begin || (place == Place::after_return && c != '\n')) {
      while (entry != entries_.cend() && entry->sizes.at(index) <= position) ++entry;
      const output::WallTime time = entry == entries_.cend() ? now : entry->time;
      fmt::format_to(std::back_inserter(stamped), "{:%FT%T}Z ",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
    }
    place = c == '\n' ? Place::line_begin : c == '\r' ? Place::after_return : Place::within;
    stamped += c;
    ++position;
  }
  shown_.at(index) = position;
  forget_shown();
  return stamped;
}

void LogTimes::forget_shown() {
  const auto is_shown = [this](const Entry& entry) {
    return entry.sizes[0] <= shown_[0] && entry.sizes[1] <= shown_[1];
  };
  while (!entries_.empty() && is_shown(entries_.front())) entries_.pop_front();
}

}  // namespace podrun::jobs
