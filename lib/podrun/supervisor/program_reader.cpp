// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/program_reader.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/supervisor/greeting.hpp"

namespace podrun::supervisor {
namespace {

constexpr std::size_t kMaxSaid = 64 * 1024;
constexpr int kLastOwnStatus = 128;  ///< a shell says 128 + N of signal N, and ssh 255

}  // namespace

asio::awaitable<std::optional<Chunk>> ProgramReader::read() {
  if (!early_.empty()) co_return std::exchange(early_, {});
  for (;;) {
    link::StreamEvent event = co_await stream_->next();
    if (auto* received = std::get_if<link::Received>(&event)) {
      if (received->stream == StreamId::out) co_return std::move(received->bytes);
      if (said_.size() < kMaxSaid) said_ += received->bytes.bytes();
    } else if (auto* failure = std::get_if<link::Failure>(&event)) {
      throw link::HostError(std::move(*failure));
    } else if (std::holds_alternative<link::Closed>(event)) {
      co_return std::nullopt;
    } else {
      end_ = event;
    }
  }
}

std::string ProgramReader::describe_end() const {
  return fmt::format("{} ({})", last_line(said_), supervisor::describe_end(end_));
}

bool ProgramReader::was_killed() const {
  const auto* exited = std::get_if<link::Exited>(&end_);
  return exited ? exited->status > kLastOwnStatus : std::holds_alternative<link::Signaled>(end_);
}

}  // namespace podrun::supervisor
