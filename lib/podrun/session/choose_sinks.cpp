// SPDX-License-Identifier: Apache-2.0
// Chooses the sinks for a run, and how lines look on this terminal.
#include "podrun/session/choose_sinks.hpp"

#include "podrun/output/json_sink.hpp"

namespace podrun::session {
namespace {

output::View make_line_view(const View& options, const hosts::Probe& probe,
                            const output::Terminal& terminal) {
  const std::optional<std::string> no_color = probe.env("NO_COLOR");
  const std::optional<std::string> term = probe.env("TERM");
  const output::ColorEnvironment environment{no_color ? no_color->c_str() : nullptr,
                                             term ? term->c_str() : nullptr};
  output::View view{.label = options.label};
  view.quiet = options.quiet;
  view.timestamps = options.timestamps;
  if (options.json) view.shown_on = {StreamId::err, StreamId::err};
  if (options.label == output::Label::stored) view.timestamps = false;  // a log has its own
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::size_t i = index_of(stream);
    const bool is_terminal = terminal.is_terminal(view.shown_on[i]);
    view.color[i] = output::choose_color(options.color, environment, is_terminal);
    view.controls[i] =
        options.controls.value_or(is_terminal ? output::Controls::only_colors : output::Controls::pass);
    view.bars[i] =
        view.controls[i] == output::Controls::only_colors ? output::Bars::fold : output::Bars::keep;
    view.align = view.align || is_terminal;
  }
  return view;
}

/// A bar that many hosts share is shown in its last state, as no two come to it alike.
output::View dedup_view(output::View view, output::Same same) {
  if (same != output::Same::bytes) view.bars.fill(output::Bars::fold);
  return view;
}

output::SpoolSpace spool_space(const hosts::Probe& probe) {
  output::SpoolSpace space;
  const std::optional<std::string> directory = probe.env("TMPDIR");
  if (directory && !directory->empty()) space.directory = *directory;
  return space;
}

}  // namespace

View stored_view(View view) {
  view.label = output::Label::stored;
  view.color = output::ColorMode::never;
  view.controls = output::Controls::pass;
  view.dedup.reset();
  view.dedup_ignored.clear();
  view.rank0 = view.gather = false;
  return view;
}

Sinks make_sinks(const std::vector<hosts::Host>& hosts, const View& options, const hosts::Probe& probe,
                 output::Terminal& terminal) {
  const output::View view = make_line_view(options, probe, terminal);
  Sinks sinks;
  sinks.last_lines = std::make_shared<output::LastLines>(hosts.size());
  sinks.all.push_back(sinks.last_lines);
  if (options.json && options.json_lines) sinks.all.push_back(output::make_json_sink(hosts, terminal));
  const bool is_raw =
      hosts.size() == 1 && view.label == output::Label::none && !options.json && !options.timestamps;
  const output::SameLines comparison{options.dedup.value_or(output::Same::bytes), options.dedup_ignored};
  if (options.rank0) {
    sinks.all.push_back(output::make_stream_sink(hosts, view, terminal, output::Shown::first));
  } else if (options.compares_lines() && !is_raw) {
    sinks.all.push_back(output::make_dedup_sink(hosts, dedup_view(view, comparison.same), comparison,
                                                options.dedup_limits, terminal));
  } else if (is_raw || (!options.json && !options.gather)) {
    const bool shares_errors =
        view.label != output::Label::none && terminal.is_terminal(view.shown_on[index_of(StreamId::err)]);
    const auto window = shares_errors ? options.dedup_limits.window : std::chrono::milliseconds::zero();
    sinks.all.push_back(output::make_stream_sink(hosts, view, terminal, output::Shown::all, window));
  }
  if (options.gather && !is_raw)
    sinks.all.push_back(output::make_gather_sink(hosts, view, comparison, terminal, spool_space(probe)));
  if (!options.outdir.empty())
    sinks.all.push_back(
        output::make_outdir_sink(hosts, options.outdir, options.earlier, spool_space(probe),
                                 options.timestamps ? output::TimeIndex::yes : output::TimeIndex::no));
  return sinks;
}

}  // namespace podrun::session
