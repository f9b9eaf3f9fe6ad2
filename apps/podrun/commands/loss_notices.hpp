// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/output/output.hpp"
#include "podrun/run/fan_out.hpp"

namespace podrun::commands {

/// Says at once which hosts are lost, and why, where others go on: those of one second in one line. Otherwise
/// the summary says it. Both must outlive it.
class LossNotices {
 public:
  LossNotices(const asio::any_io_executor& executor, const run::FanOut& fan_out, output::Output& output);

  void host_ended(std::size_t host);

 private:
  void say() const;

  const run::FanOut& fan_out_;
  output::Output& output_;
  asio::steady_timer timer_;
  std::vector<std::size_t> lost_;  ///< not yet said
};

}  // namespace podrun::commands
