// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/spool.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {

/// `--gather`: at the end, shows output that several hosts printed byte for byte alike once, stdout first,
/// under a header with their worker numbers and count: `[0-30] (31)`. Label::none has no header. The terminal
/// must outlive the sink.
std::unique_ptr<Sink> make_gather_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                       Terminal& terminal, SpoolSpace space = {});

}  // namespace podrun::output
