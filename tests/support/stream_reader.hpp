// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <variant>

#include <asio/awaitable.hpp>
#include <fmt/format.h>

#include "podrun/link/link.hpp"
#include "podrun/report/outcome_words.hpp"

namespace podrun::test {

/// `exit 3`, `signal 9`, `closed`, `stage: what`
inline std::string describe(const link::StreamEvent& event) {
  if (const auto* exited = std::get_if<link::Exited>(&event)) return fmt::format("exit {}", exited->status);
  if (const auto* signaled = std::get_if<link::Signaled>(&event))
    return fmt::format("signal {}", signaled->signal);
  if (const auto* failure = std::get_if<link::Failure>(&event)) return report::describe(*failure);
  return std::holds_alternative<link::Closed>(event) ? "closed" : "output";
}

/// Collects what a Stream or a Supervised gives.
template <typename Source>
class StreamReader {
 public:
  explicit StreamReader(Source& source) : source_(source) {}

  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  /// Events besides output: `exit 0, closed`
  const std::string& end() const { return end_; }

  asio::awaitable<void> to_end() {
    while (!ended_) co_await step();
  }
  /// Until stdout has this text; throws when it ends before.
  asio::awaitable<void> until(std::string text) {
    while (out_.find(text) == std::string::npos) {
      if (ended_)
        throw std::runtime_error(fmt::format("\"{}\" never came: {}{} ({})", text, out_, err_, end_));
      co_await step();
    }
  }
  /// Until it has ended, though the streams may still be open.
  asio::awaitable<void> until_exit() {
    while (end_.empty()) co_await step();
  }

 private:
  asio::awaitable<void> step() {
    const link::StreamEvent event = co_await source_.next();
    if (const auto* output = std::get_if<link::Received>(&event)) {
      (output->stream == StreamId::out ? out_ : err_) += output->bytes.bytes();
      co_return;
    }
    end_ += (end_.empty() ? "" : ", ") + describe(event);
    ended_ = std::holds_alternative<link::Closed>(event) || std::holds_alternative<link::Failure>(event);
  }

  Source& source_;
  std::string out_;
  std::string err_;
  std::string end_;
  bool ended_ = false;
};

}  // namespace podrun::test
