// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/last_lines.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

#include "cli/options.hpp"

namespace podrun::commands {

/// The receivers of the hosts' output.
struct Sinks {
  std::vector<std::shared_ptr<output::Sink>> all;
  std::shared_ptr<output::LastLines> last_lines;  ///< one of them
};

/// As the options want them. The terminal must outlive them.
Sinks make_sinks(const std::vector<hosts::Host>& hosts, const cli::Options& options,
                 const hosts::Probe& probe, output::Terminal& terminal);

}  // namespace podrun::commands
