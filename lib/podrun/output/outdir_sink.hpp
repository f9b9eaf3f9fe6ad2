// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/spool.hpp"

namespace podrun::output {

/// Treatment of output of earlier runs in the directory: refuse to start, append to it (`--append`), or
/// remove all of it when the run starts (`--force`).
enum class EarlierOutput { refuse, append, replace };

/// `--outdir DIR`: writes every byte unchanged into DIR/NUMBER-NAME.out and .err of each host, at most a
/// second later. Makes DIR, and the files when a command starts; until then `space` keeps output. Throws
/// UsageError if the directory refuses, or it or a file cannot be made.
std::unique_ptr<Sink> make_outdir_sink(const std::vector<hosts::Host>& hosts, const std::string& directory,
                                       EarlierOutput earlier, SpoolSpace space);

}  // namespace podrun::output
