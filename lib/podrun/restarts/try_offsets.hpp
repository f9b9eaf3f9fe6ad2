// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/output/json_sink.hpp"
#include "podrun/report/json_events.hpp"

namespace podrun::restarts {

/// How long the files of --outdir are before a try, as a line of its tries.jsonl: what the try prints follows
/// there. Empty without --outdir.
std::string describe_offsets(const std::string& outdir, const report::TryNumber& number,
                             const std::string& run_id, output::WallTime now);

/// Failures are ignored, as the output itself is there.
void append_offsets(const std::string& outdir, const std::string& line);

}  // namespace podrun::restarts
