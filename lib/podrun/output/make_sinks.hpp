// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/log_key/line_key.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/spool.hpp"
#include "podrun/output/terminal.hpp"

// Makes sinks, each in a source of its own: stream_sink.cpp, gather_sink.cpp, outdir_sink.cpp. `hosts` are
// those of the run, in order. The terminal must outlive its sinks.
namespace podrun::output {

/// Which hosts are shown: all, or only the first (`--rank0`).
enum class Shown { all, first };

/// Shows every line at once, with its host's label. For one host without a label: every chunk at once and
/// unchanged except for the view's escapes. `error_window`: errors wait so long for other hosts that print
/// them too, and are then shown once.
std::unique_ptr<Sink> make_stream_sink(
    const std::vector<hosts::Host>& hosts, const View& view, Terminal& terminal, Shown shown = Shown::all,
    std::chrono::milliseconds error_window = std::chrono::milliseconds::zero());

/// `--gather`: at the end, shows output of several hosts whose lines count as equal once, as the first of
/// them printed it, stdout first, under a header with their worker numbers and count: `[0-30] (31)`.
/// Label::none has no header.
std::unique_ptr<Sink> make_gather_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                       const SameLines& comparison, Terminal& terminal,
                                       SpoolSpace space = {});

/// Treatment of output of earlier runs in the directory: refuse to start, append to it (`--append`), or
/// remove all of it when the run starts (`--force`).
enum class EarlierOutput { refuse, append, replace };

/// Whether DIR/NUMBER-NAME.out.times says when the bytes of a file came: lines `TIME SIZE`, the size of the
/// file when podrun wrote to it.
enum class TimeIndex { no, yes };

/// `--outdir DIR`: writes every byte unchanged into DIR/NUMBER-NAME.out and .err of each host, at most a
/// second later. Makes DIR (which git then ignores), and the files when a command starts; until then `space`
/// keeps output. Throws UsageError if the directory refuses, or it or a file cannot be made.
std::unique_ptr<Sink> make_outdir_sink(const std::vector<hosts::Host>& hosts, const std::string& directory,
                                       EarlierOutput earlier, SpoolSpace space,
                                       TimeIndex index = TimeIndex::no);

/// The next run with this `--outdir` may replace what is there: the command has only failed to start. Nothing
/// happens where that cannot be noted.
void release_outdir(const std::string& directory);

}  // namespace podrun::output
