// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/sink.hpp"

namespace podrun {

/// `--outdir DIR`: every byte as it came, into DIR/<label>-<name>.out and .err of each host, at most a second
/// later. Makes DIR and the files, empty, at once; throws UsageError when one cannot be made.
std::unique_ptr<Sink> make_outdir_sink(const std::vector<Host>& hosts, const std::string& directory);

}  // namespace podrun
