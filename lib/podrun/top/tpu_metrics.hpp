// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/supervisor/supervised.hpp"
#include "podrun/top/frames.hpp"
#include "podrun/top/grpc_connection.hpp"

// Figures of TPUs from the metrics service that libtpu starts in the process that uses them
// (tpu.monitoring.runtime.RuntimeMetricService; its .proto is in
// github.com/AI-Hypercomputer/cloud-accelerator-diagnostics).
namespace podrun::top {

/// A MetricRequest for this metric. Pure.
std::string encode_metric_request(std::string_view metric);
/// The gauges of a MetricResponse by the id of their device. Broken bytes give what came before. Pure.
std::map<std::int64_t, double> decode_metric_response(std::string_view bytes);

/// The replies of one port, for each metric that podrun asks for.
struct TpuReply {
  std::map<std::int64_t, double> memory_used = {};
  std::map<std::int64_t, double> memory_total = {};
  std::map<std::int64_t, double> busy = {};
};
/// The chips of a host, from the replies of all its ports in their order. Memory is told for each core of
/// older TPUs, of which a chip has two; busy for each chip. `chips`: how many the host has. Pure.
std::vector<Chip> chips_of_replies(const std::vector<TpuReply>& replies, std::size_t chips);

/// Asks the services of one host, over connections that it keeps.
class TpuMetrics : public std::enable_shared_from_this<TpuMetrics> {
 public:
  explicit TpuMetrics(const asio::any_io_executor& executor) : executor_(executor), answered_(executor) {}

  /// Sets the chips of the report and calls `done` if a service answers in time. A port that does not is left
  /// alone for a while. Without a service there are no figures. Does nothing while a question is pending.
  void ask(supervisor::Supervised& supervised, HostReport& report, std::function<void()> done);
  /// Returns when no question is pending, or after `longest`.
  asio::awaitable<void> wait(std::chrono::milliseconds longest);
  /// Ends a pending question: what ask() was given is not used any more.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  struct Port {
    std::shared_ptr<GrpcConnection> connection = {};
    Clock::time_point next = {};  ///< not asked before
  };
  asio::awaitable<void> ask_all(std::shared_ptr<TpuMetrics> self, supervisor::Supervised& supervised,
                                HostReport& report, std::function<void()> done);
  asio::awaitable<std::optional<TpuReply>> ask_port(supervisor::Supervised& supervised, std::uint16_t number);
  asio::awaitable<void> connect(supervisor::Supervised& supervised, std::uint16_t number, Port& port);

  asio::any_io_executor executor_;
  asio::steady_timer answered_;
  std::map<std::uint16_t, Port> ports_;
  bool is_asking_ = false;
  bool is_stopped_ = false;
};

}  // namespace podrun::top
