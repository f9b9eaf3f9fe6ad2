// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/spool.hpp"

namespace podrun {

/// What becomes of the output of earlier runs in the directory: nothing starts, it stays and is added to
/// (`--append`), or all of it is removed when the run starts (`--force`).
enum class EarlierOutput { refuse, append, replace };

/// `--outdir DIR`: every byte as it came, into DIR/<label>-<name>.out and .err of each host, at most a second
/// later. Makes DIR, and the files when a command starts; until then output is kept in `space`. Throws
/// UsageError where the directory refuses, or it or a file cannot be made.
std::unique_ptr<Sink> make_outdir_sink(const std::vector<Host>& hosts, const std::string& directory,
                                       EarlierOutput earlier, SpoolSpace space);

}  // namespace podrun
