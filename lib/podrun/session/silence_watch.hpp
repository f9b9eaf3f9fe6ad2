// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/run/status.hpp"

namespace podrun::session {

/// Remembers which hosts of a run are silent while it goes on, for `--workers silent` in another terminal. A
/// short run in which none is silent leaves what is known of a longer one. Writes on a thread of its own,
/// since a home directory may hang.
class SilenceWatch {
 public:
  SilenceWatch(std::shared_ptr<asio::io_context> context, std::function<run::Status()> status);

  void start() { arm(kFirst); }
  void stop() { timer_.cancel(); }

 private:
  static constexpr std::chrono::seconds kFirst{10};
  static constexpr std::chrono::seconds kBetween{5};
  static constexpr std::chrono::minutes kAgain{1};  ///< another run may have written meanwhile

  void arm(std::chrono::seconds pause);
  void look();

  const std::function<run::Status()> status_;
  asio::steady_timer timer_;
  BlockingPool writer_;
  const run::TimePoint begin_ = std::chrono::steady_clock::now();
  bool is_writing_ = false;
  run::TimePoint written_at_ = {};
  std::vector<hosts::Host> written_ = {};
};

}  // namespace podrun::session
