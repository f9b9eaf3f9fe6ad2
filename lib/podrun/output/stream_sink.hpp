// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun {

/// Which hosts are shown: all, or only the first (`--rank0`).
enum class Shown { all, first };

/// Shows every line as it comes behind its host's label; `hosts` are those of the run in its order.
/// One host without label: every chunk as it comes, byte for byte but for what the view escapes. The terminal
/// must outlive the sink.
std::unique_ptr<Sink> make_stream_sink(const std::vector<Host>& hosts, const View& view, Terminal& terminal,
                                       Shown shown = Shown::all);

}  // namespace podrun
