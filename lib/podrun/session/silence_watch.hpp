// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/run/status.hpp"

namespace podrun::session {

/// Remembers which hosts of a run are silent while it goes on, for `--workers silent` in another terminal. A
/// run of a few seconds leaves nothing. Writes on a thread of its own, since a home directory may hang.
class SilenceWatch {
 public:
  SilenceWatch(std::shared_ptr<asio::io_context> context, std::function<run::Status()> status);

  void start() { arm(kFirst); }
  void stop() { timer_.cancel(); }

 private:
  static constexpr std::chrono::seconds kFirst{10};
  static constexpr std::chrono::seconds kBetween{5};

  void arm(std::chrono::seconds pause);
  void look();

  const std::function<run::Status()> status_;
  asio::steady_timer timer_;
  BlockingPool writer_;
  bool is_writing_ = false;
  std::optional<std::vector<hosts::Host>> written_ = std::nullopt;
};

}  // namespace podrun::session
