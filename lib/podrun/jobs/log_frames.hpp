// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/base/chunk.hpp"

// Reads what logs.sh prints. Pure.
namespace podrun::jobs {

/// Bytes of a job's output. What lies between the end of the piece before and its position is lost; no bytes:
/// the stream begins here.
struct LogPiece {
  StreamId stream;
  std::uint64_t position;  ///< of its first byte in the stream
  std::string_view bytes;
};

class LogFrames {
 public:
  explicit LogFrames(std::function<void(const LogPiece&)> take) : take_(std::move(take)) {}

  /// Throws HostError for what is no frame.
  void feed(std::string_view bytes);
  /// Which start of the job it is: its number; empty until that is known.
  const std::string& number() const { return number_; }
  /// As job_state.sh says it; empty until the end.
  const std::optional<std::string>& state() const { return state_; }

 private:
  void take_header();

  std::function<void(const LogPiece&)> take_;
  std::string header_ = {};
  StreamId stream_ = StreamId::out;
  std::uint64_t position_ = 0;
  std::uint64_t left_ = 0;  ///< bytes of the piece that is being read
  std::string number_ = {};
  std::optional<std::string> state_ = std::nullopt;
};

}  // namespace podrun::jobs
