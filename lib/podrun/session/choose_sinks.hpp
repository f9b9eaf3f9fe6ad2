// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/dedup/dedup_sink.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/last_lines.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/make_sinks.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::session {

/// How the output of the hosts is shown and stored.
struct View {
  output::Label label = output::Label::worker;
  output::ColorMode color = output::ColorMode::automatic;
  std::optional<output::Controls> controls = {};  ///< none: colours alone on a terminal, all elsewhere
  std::optional<output::Same> dedup = {};         ///< none: every line of every host
  std::vector<Regex> dedup_ignored = {};  ///< if there are any, lines are compared even without `dedup`
  output::DedupLimits dedup_limits = {};
  bool timestamps = false;  ///< before each line, and beside the files of outdir
  bool rank0 = false;
  bool gather = false;
  bool json = false;
  bool json_lines = true;   ///< with `json`: lines of output are events too
  bool quiet = false;       ///< podrun says nothing but errors
  std::string outdir = {};  ///< empty: the output is not stored
  output::EarlierOutput earlier = output::EarlierOutput::refuse;  ///< in outdir

  bool compares_lines() const { return dedup || !dedup_ignored.empty(); }
};

/// Every line of every host, as read_stored_line() reads it, in one stream: for a log that others view later.
View stored_view(View view);

/// The receivers of the hosts' output.
struct Sinks {
  std::vector<std::shared_ptr<output::Sink>> all;
  std::shared_ptr<output::LastLines> last_lines;  ///< one of them
};

/// Makes the sinks for this view. The terminal must outlive them. Throws UsageError.
Sinks make_sinks(const std::vector<hosts::Host>& hosts, const View& view, const hosts::Probe& probe,
                 output::Terminal& terminal);

}  // namespace podrun::session
