// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podrun::top {

/// A process of a host. proc(5), /proc/PID/stat
struct HostProcess {
  std::uint64_t pid = 0;
  std::string user = {};
  std::string name = {};
  char state = '?';
  std::optional<double> cpu = {};  ///< percent of one CPU since the last list; none: it is new
  std::uint64_t memory = 0;        ///< resident bytes
  double age = 0;                  ///< seconds
  std::uint64_t ticks = 0;         ///< of CPU time since its start
  std::uint64_t start = 0;         ///< in ticks after boot: with the pid it names a process
};

/// The processes of the host whose page is shown. Text comes from the host: escape it before it is shown.
struct HostDetail {
  std::size_t host = 0;
  double at = 0;                            ///< the uptime; 0: nothing has come yet
  std::vector<HostProcess> processes = {};  ///< those that use most CPU time first, then most memory
};

/// Reads what detail.sh prints; `before` gives the CPU times of the last list of the same host. Pure.
HostDetail read_detail(std::size_t host, std::string_view text, const HostDetail& before);

}  // namespace podrun::top
