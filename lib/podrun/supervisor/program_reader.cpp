// SPDX-License-Identifier: Apache-2.0
// Reads the stream of a program on a host: up to its hello, and then its output and end.
#include "podrun/supervisor/program_reader.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

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

asio::awaitable<Hello> Greeting::read(bool& may_have_started) {
  link::StreamEvent end = link::Closed{};
  while (!reader_.hello()) {
    link::StreamEvent event = co_await stream_.next();
    if (auto* output = std::get_if<link::Received>(&event)) {
      co_await take(std::move(*output));
    } else if (auto* failure = std::get_if<link::Failure>(&event)) {
      throw link::HostError(std::move(*failure));
    } else if (std::holds_alternative<link::Closed>(event)) {
      may_have_started = false;
      co_await emit(reader_.finish());
      fail(end);
    } else {
      end = event;
    }
  }
  co_return *reader_.hello();
}

asio::awaitable<Hello> Greeting::read() {
  bool unused = false;
  co_return co_await read(unused);
}

asio::awaitable<void> Greeting::take(link::Received output) {
  if (output.stream == StreamId::out) {
    co_await emit(reader_.feed(output.bytes.bytes()));
  } else {
    remember(output.stream, output.bytes.bytes());
    co_await noise_(std::move(output));
  }
}

asio::awaitable<void> Greeting::emit(std::string bytes) {
  if (bytes.empty()) co_return;
  remember(StreamId::out, bytes);
  link::Received noise{StreamId::out,
                       Chunk(std::move(bytes))};  // named: g++ 12 destroys a temporary here twice
  co_await noise_(std::move(noise));
}

void Greeting::remember(StreamId stream, std::string_view bytes) {
  constexpr std::size_t kEnough = 1024;
  if (std::exchange(said_on_, stream) != stream) said_ += '\n';
  said_ += bytes;
  if (said_.size() > kEnough) said_.erase(0, said_.size() - kEnough);
}

void Greeting::fail(const link::StreamEvent& end) const {
  std::string_view said = last_line(said_);
  if (said.find("podrun_options") != said.npos)
    said = {};  // podrun's own line, which a start-up file has read
  throw link::HostError({link::Stage::starting_shell, link::Cause::ended_early,
                         said.empty()
                             ? fmt::format("it ended before the command could start ({})", describe_end(end))
                             : fmt::format("{} ({})", said, describe_end(end))});
}

std::string describe_end(const link::StreamEvent& event) {
  if (const auto* exited = std::get_if<link::Exited>(&event)) return fmt::format("exit {}", exited->status);
  if (const auto* signaled = std::get_if<link::Signaled>(&event))
    return fmt::format("signal {}", signaled->signal);
  return "no exit status";
}

}  // namespace podrun::supervisor
