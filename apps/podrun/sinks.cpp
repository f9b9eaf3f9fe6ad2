// SPDX-License-Identifier: Apache-2.0
#include "sinks.hpp"

#include "podrun/output/stream_sink.hpp"

namespace podrun {
namespace {

View make_view(const Options& options, const Probe& probe, const Terminal& terminal) {
  const std::optional<std::string> no_color = probe.env("NO_COLOR");
  const std::optional<std::string> term = probe.env("TERM");
  const ColorEnvironment environment{no_color ? no_color->c_str() : nullptr, term ? term->c_str() : nullptr};
  View view{.label = options.label, .controls = options.controls};
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::size_t i = index_of(stream);
    const bool is_terminal = terminal.is_terminal(view.shown_on[i]);
    view.color[i] = choose_color(options.color, environment, is_terminal);
    view.bars[i] = is_terminal ? Bars::fold : Bars::keep;
  }
  return view;
}

}  // namespace

Sinks make_sinks(const std::vector<Host>& hosts, const Options& options, const Probe& probe,
                 Terminal& terminal) {
  const View view = make_view(options, probe, terminal);
  Sinks sinks;
  sinks.last_lines = std::make_shared<LastLines>(hosts.size());
  sinks.all.push_back(sinks.last_lines);
  sinks.all.push_back(make_stream_sink(hosts, view, terminal, options.rank0 ? Shown::first : Shown::all));
  return sinks;
}

}  // namespace podrun
