// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/event.hpp"

namespace podrun::transfer {

/// Lets hosts of a push wait for what happens at other hosts, where no stream has an end that would end this.
class HostWaits {
 public:
  explicit HostWaits(std::size_t hosts) : abandoned_(hosts) {}

  /// Call this before each pass of the run.
  void begin_pass() { abandoned_.assign(abandoned_.size(), false); }
  /// Call this when an attempt of the host begins.
  void begin_attempt(std::size_t host) { abandoned_[host] = false; }
  /// Call this when the run gives up an attempt: its wait() fails.
  void abandon(std::size_t host);

  /// Waits for report_change(). Throws HostError.
  asio::awaitable<void> wait(std::size_t host);
  void report_change();

 private:
  std::vector<bool> abandoned_;
  std::vector<std::shared_ptr<Event>> waiting_ = {};
};

}  // namespace podrun::transfer
