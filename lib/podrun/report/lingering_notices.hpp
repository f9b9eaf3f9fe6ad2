// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/output/output.hpp"
#include "podrun/remote/protocol.hpp"

namespace podrun::report {

bool is_several(const remote::Holders& holders);
/// `pid 7 (sleep), 8 (sh) and 2 more`
std::string describe(const remote::Holders& holders);

/// Worker numbers with the processes that have the output of the ended command open.
using Lingering = std::vector<std::pair<std::size_t, remote::Holders>>;

/// `[0-7] command ended; python3 (pid 7 on [0]) still has its output open. …`: a line for all hosts whose
/// first process has the same name. Each of `hosts` names a process. Pure.
std::vector<std::string> describe_lingering(const Lingering& hosts);

/// Reports hosts whose command has ended while the run still waits for its output; hosts of one second share
/// a line. `output` must outlive it.
class LingeringNotices {
 public:
  LingeringNotices(const asio::any_io_executor& executor, output::Output& output)
      : output_(output), timer_(executor) {}

  void add(std::size_t worker, remote::Holders holders);
  /// The host ended in the meantime, so nothing is reported.
  void remove(std::size_t worker);

 private:
  output::Output& output_;
  asio::steady_timer timer_;
  Lingering unsaid_;
};

}  // namespace podrun::report
