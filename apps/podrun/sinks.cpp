// SPDX-License-Identifier: Apache-2.0
#include "sinks.hpp"

#include "podrun/output/gather_sink.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/output/outdir_sink.hpp"
#include "podrun/output/stream_sink.hpp"

namespace podrun {
namespace {

View make_view(const Options& options, const Probe& probe, const Terminal& terminal) {
  const std::optional<std::string> no_color = probe.env("NO_COLOR");
  const std::optional<std::string> term = probe.env("TERM");
  const ColorEnvironment environment{no_color ? no_color->c_str() : nullptr, term ? term->c_str() : nullptr};
  View view{.label = options.label};
  if (options.json) view.shown_on = {StreamId::err, StreamId::err};
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::size_t i = index_of(stream);
    const bool is_terminal = terminal.is_terminal(view.shown_on[i]);
    view.color[i] = choose_color(options.color, environment, is_terminal);
    view.controls[i] = options.controls.value_or(is_terminal ? Controls::only_colors : Controls::pass);
    view.bars[i] = is_terminal ? Bars::fold : Bars::keep;
    view.align = view.align || is_terminal;
  }
  return view;
}

/// A bar that many hosts share is shown in its last state, as no two come to it alike.
View dedup_view(View view, Same same) {
  if (same == Same::log_line) view.bars.fill(Bars::fold);
  return view;
}

EarlierOutput earlier_output(const Options& options) {
  if (options.force) return EarlierOutput::replace;
  return options.append ? EarlierOutput::append : EarlierOutput::refuse;
}

SpoolSpace spool_space(const Probe& probe) {
  SpoolSpace space;
  const std::optional<std::string> directory = probe.env("TMPDIR");
  if (directory && !directory->empty()) space.directory = *directory;
  return space;
}

}  // namespace

Sinks make_sinks(const std::vector<Host>& hosts, const Options& options, const Probe& probe,
                 Terminal& terminal) {
  const View view = make_view(options, probe, terminal);
  Sinks sinks;
  sinks.last_lines = std::make_shared<LastLines>(hosts.size());
  sinks.all.push_back(sinks.last_lines);
  if (options.json) sinks.all.push_back(make_json_sink(hosts, terminal));
  const bool is_raw = hosts.size() == 1 && view.label == Label::none && !options.json;
  if (options.rank0) {
    sinks.all.push_back(make_stream_sink(hosts, view, terminal, Shown::first));
  } else if (options.dedup && !is_raw) {
    sinks.all.push_back(make_dedup_sink(hosts, dedup_view(view, *options.dedup), *options.dedup,
                                        options.dedup_limits, terminal));
  } else if (is_raw || (!options.json && !options.gather)) {
    sinks.all.push_back(make_stream_sink(hosts, view, terminal));
  }
  if (options.gather && !is_raw)
    sinks.all.push_back(make_gather_sink(hosts, view, terminal, spool_space(probe)));
  if (!options.outdir.empty())
    sinks.all.push_back(make_outdir_sink(hosts, options.outdir, earlier_output(options), spool_space(probe)));
  return sinks;
}

}  // namespace podrun
