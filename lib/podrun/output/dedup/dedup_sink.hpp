// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/dedup/dedup.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/log_key/line_key.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {

/// Shows lines of many hosts once, labelled with these hosts; at the end, how many lines came too late to be
/// shown. The terminal must outlive the sink.
std::unique_ptr<Sink> make_dedup_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                      const SameLines& comparison, const DedupLimits& limits,
                                      Terminal& terminal);

}  // namespace podrun::output
