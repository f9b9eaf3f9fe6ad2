// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "podrun/base/chunk.hpp"

namespace podrun::jobs {

/// Bytes of a job's output. Bytes between `next` of the previous piece and `position` are lost; a piece whose
/// `next` is its position says where the stream begins.
struct LogPiece {
  StreamId stream;
  std::uint64_t position;  ///< of its first byte in the stream
  std::string_view bytes;
  std::uint64_t next;  ///< where the next piece begins: further than the bytes where only a part was sent
};

/// The output had these sizes then.
struct LogNote {
  std::chrono::seconds age;  ///< how long ago
  std::uint64_t out;
  std::uint64_t err;
};

/// Reads what logs.sh prints.
class LogFrames {
 public:
  explicit LogFrames(
      std::function<void(const LogPiece&)> take,
      std::function<void(const LogNote&)> note = [](const LogNote&) {})
      : take_(std::move(take)), note_(std::move(note)) {}

  /// Throws HostError for anything but frames.
  void feed(std::string_view bytes);
  /// The number of this start of the job; empty until it is known.
  const std::string& number() const { return number_; }
  /// The state that job_state.sh prints; none until the end.
  const std::optional<std::string>& state() const { return state_; }

 private:
  void take_header();
  void take_frame(StreamId stream, std::string_view numbers);
  void take_note(std::string_view numbers);
  void take_bytes(std::string_view part);

  std::function<void(const LogPiece&)> take_;
  std::function<void(const LogNote&)> note_;
  std::string header_ = {};
  StreamId stream_ = StreamId::out;
  std::uint64_t position_ = 0;
  std::uint64_t left_ = 0;                            ///< bytes of the piece that is being read
  std::optional<std::uint64_t> next_ = std::nullopt;  ///< of a piece that counts as a whole only
  std::string kept_ = {};                             ///< the part of it that has come
  std::string number_ = {};
  std::optional<std::string> state_ = std::nullopt;
};

}  // namespace podrun::jobs
