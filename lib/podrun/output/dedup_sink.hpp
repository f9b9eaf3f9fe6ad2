// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/dedup.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun {

/// Which lines of two hosts are the same (`--dedup`): those of the same bytes, or those of a log that differ
/// only in what differs by nature.
enum class Same { bytes, log_line };

/// Shows once what many hosts print, behind the ranks that did; at the end how many lines came too late to be
/// shown. The terminal must outlive the sink.
std::unique_ptr<Sink> make_dedup_sink(const std::vector<Host>& hosts, const View& view, Same same,
                                      const DedupLimits& limits, Terminal& terminal);

}  // namespace podrun
