// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {

/// Which hosts are shown: all, or only the first (`--rank0`).
enum class Shown { all, first };

/// Shows every line at once, with its host's label; `hosts` are those of the run in order. For one host
/// without a label: every chunk at once and unchanged except for the view's escapes. The terminal must
/// outlive the sink.
std::unique_ptr<Sink> make_stream_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                       Terminal& terminal, Shown shown = Shown::all);

}  // namespace podrun::output
