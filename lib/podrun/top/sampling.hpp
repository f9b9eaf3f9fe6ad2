// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/supervisor/supervised.hpp"
#include "podrun/top/top_pod.hpp"
#include "podrun/top/tpu_metrics.hpp"

namespace podrun::top {

struct SampleRequest {
  bool is_once = false;                       ///< two frames, and what takes longer
  std::optional<std::size_t> count = {};      ///< frames with rates of each host; none: until stop()
  std::chrono::milliseconds interval{2'000};  ///< between two frames
  bool asks_gpus = true;                      ///< by nvidia-smi
};

/// Talks to top.sh on each host: one tick, one frame, so that a host never has two under way. What takes long
/// is asked for now and then, and never twice. For the main thread.
class Sampling {
 public:
  /// `pod` must outlive it. `on_frame` is called when a host's report has a new frame.
  Sampling(Pod& pod, const SampleRequest& request, std::function<void(std::size_t host)> on_frame);

  /// Returns after the frames that were asked for. Throws HostError.
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised);

  std::chrono::milliseconds interval() const { return interval_; }
  /// From the next tick of each host on.
  void set_interval(std::chrono::milliseconds interval) { interval_ = interval; }
  /// Ends what waits for the next tick of this host.
  void stop(std::size_t host);

 private:
  using Clock = std::chrono::steady_clock;

  /// What was asked of a host on its present connection.
  struct Asked {
    std::size_t ticks = 0;
    bool awaits_holders = false;
    std::optional<double> holders_at = {};  ///< the uptime when they were asked for
    Clock::time_point holders_asked = {};   ///< the same by our clock
    std::optional<double> clock_at = {};
    std::unique_ptr<asio::steady_timer> timer = {};
    std::shared_ptr<TpuMetrics> tpu = {};
    bool waited_for_tpu = false;
    bool is_stopped = false;
  };

  std::string tick(std::size_t host);
  std::string letters(Asked& asked, const HostReport& report, double uptime) const;
  std::string mounts_to_ask(HostReport& report, double uptime) const;
  bool is_complete(const Asked& asked, const HostReport& report) const;
  asio::awaitable<void> wait_for_turn(std::size_t host);
  void add_frame(std::size_t host, Clock::time_point asked_at);

  Pod& pod_;
  const SampleRequest request_;
  const std::function<void(std::size_t)> on_frame_;
  std::chrono::milliseconds interval_;
  std::vector<Asked> asked_;
  std::vector<std::size_t> sampled_;  ///< frames with rates, of each host, on all of its connections
  const Clock::time_point begun_ = Clock::now();
  std::optional<Clock::time_point> changed_at_ = {};  ///< when holders of some host were other than before
};

}  // namespace podrun::top
