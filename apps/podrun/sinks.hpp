// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/last_lines.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

#include "options.hpp"

namespace podrun {

/// What becomes of the hosts' output.
struct Sinks {
  std::vector<std::shared_ptr<Sink>> all;
  std::shared_ptr<LastLines> last_lines;  ///< one of them
};

/// As the options want them. The terminal must outlive them.
Sinks make_sinks(const std::vector<Host>& hosts, const Options& options, const Probe& probe,
                 Terminal& terminal);

}  // namespace podrun
