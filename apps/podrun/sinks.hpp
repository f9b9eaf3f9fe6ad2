// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

#include "options.hpp"

namespace podrun {

/// What becomes of the hosts' output, as the options want it. The terminal must outlive the sinks.
std::vector<std::shared_ptr<Sink>> make_sinks(const std::vector<Host>& hosts, const Options& options,
                                              const Probe& probe, Terminal& terminal);

}  // namespace podrun
