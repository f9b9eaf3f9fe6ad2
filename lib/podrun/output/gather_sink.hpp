// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/spool.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun {

/// `--gather`: at the end, what hosts printed byte for byte alike is shown once, under a header with their
/// folded labels and their number: `[0-30] (31)`. Standard output first; no header with Label::none. The
/// terminal must outlive the sink.
std::unique_ptr<Sink> make_gather_sink(const std::vector<Host>& hosts, const View& view, Terminal& terminal,
                                       SpoolSpace space = {});

}  // namespace podrun
