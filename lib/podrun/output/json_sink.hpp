// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {

using WallTime = std::chrono::system_clock::time_point;

/// `2026-11-21T13:42:02.123Z`: UTC as in RFC 3339.
std::string format_utc(WallTime time);

/// `--json`: each line as a `line` event on standard output, as in docs/json.md, with the time of the last
/// tick. The terminal must outlive the sink.
std::unique_ptr<Sink> make_json_sink(const std::vector<hosts::Host>& hosts, Terminal& terminal,
                                     std::function<WallTime()> wall_clock = std::chrono::system_clock::now);

}  // namespace podrun::output
