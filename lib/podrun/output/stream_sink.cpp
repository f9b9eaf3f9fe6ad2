// SPDX-License-Identifier: Apache-2.0
// The Sink of the plain view: every line under its label, as it comes.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "podrun/output/escape.hpp"
#include "podrun/output/make_sinks.hpp"

namespace podrun::output {
namespace {

class StreamSink final : public Sink {
 public:
  StreamSink(const std::vector<hosts::Host>& hosts, const View& view, Terminal& terminal, std::size_t shown)
      : printer_(hosts, view, terminal), shown_(shown) {
    for (const hosts::Host& host : hosts) {
      auto& labels = labels_.emplace_back();
      for (const StreamId stream : {StreamId::out, StreamId::err}) {
        const std::size_t i = index_of(stream);
        labels[i] = line_label(view.label, host, stream, view.color[i]);
      }
    }
  }

  void line(const Line& line) override {
    if (line.host < shown_) printer_.print(labels_[line.host][index_of(line.stream)], line);
  }

 private:
  LinePrinter printer_;
  const std::size_t shown_;
  std::vector<std::array<std::string, kStreams>> labels_;
};

/// Shows the first host's bytes as they come.
class RawSink final : public Sink {
 public:
  RawSink(const View& view, Terminal& terminal) : shown_on_(view.shown_on), terminal_(terminal) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      if (view.controls[i] == Controls::only_colors) safe_[i].emplace();
    }
  }

  Feed feed() const override { return Feed::chunks; }

  void line(const Line& line) override {
    if (line.host != 0) return;
    const std::size_t i = index_of(line.stream);
    if (safe_[i]) {
      terminal_.append(shown_on_[i], {safe_[i]->add(line.text)});
    } else {
      terminal_.append(shown_on_[i], {line.text});
    }
  }

  void host_ended(std::size_t host) override {
    for (std::size_t i = 0; i < kStreams; ++i) {
      if (host == 0 && safe_[i]) terminal_.append(shown_on_[i], {safe_[i]->end()});
    }
  }

 private:
  const std::array<StreamId, kStreams> shown_on_;
  std::array<std::optional<TerminalStream>, kStreams> safe_;
  Terminal& terminal_;
};

bool shows_bytes(const View& view) {
  return view.label == Label::none &&
         std::find(view.controls.begin(), view.controls.end(), Controls::escape) == view.controls.end();
}

}  // namespace

std::unique_ptr<Sink> make_stream_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                       Terminal& terminal, Shown shown) {
  const std::size_t count = shown == Shown::first ? std::min<std::size_t>(hosts.size(), 1) : hosts.size();
  if (count == 1 && shows_bytes(view)) return std::make_unique<RawSink>(view, terminal);
  return std::make_unique<StreamSink>(hosts, view, terminal, count);
}

}  // namespace podrun::output
