// SPDX-License-Identifier: Apache-2.0
// The Sink of the plain view: every line under its label, as it comes.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "podrun/output/dedup/shared_errors.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/make_sinks.hpp"

namespace podrun::output {
namespace {

class StreamSink final : public Sink {
 public:
  StreamSink(const std::vector<hosts::Host>& hosts, const View& view, Terminal& terminal, std::size_t shown,
             std::chrono::milliseconds error_window)
      : printer_(hosts, view, terminal), shown_(shown) {
    for (const hosts::Host& host : hosts) {
      auto& labels = labels_.emplace_back();
      for (const StreamId stream : {StreamId::out, StreamId::err}) {
        const std::size_t i = index_of(stream);
        labels[i] = line_label(view.label, host, stream, view.color[i]);
      }
    }
    if (error_window == error_window.zero()) return;
    const bool is_one_place = terminal.is_terminal(view.shown_on[index_of(StreamId::out)]);
    errors_.emplace(hosts.size(), error_window,
                    is_one_place ? SharedErrors::OtherLines::wait : SharedErrors::OtherLines::pass,
                    [this](std::span<const std::size_t> of, const Line& line) { print(of, line); });
  }

  void line(const Line& line) override {
    if (line.host >= shown_) return;
    if (!errors_) return printer_.print(labels_[line.host][index_of(line.stream)], line);
    Line seen = line;
    if (line.end != LineEnd::piece && printer_.view().bars[index_of(line.stream)] == Bars::fold)
      seen.text = last_state(line.text);
    errors_->line(now_, seen);
  }

  void host_ended(std::size_t host) override {
    if (errors_) errors_->host_ended(host);
  }
  void tick(TimePoint now) override {
    now_ = now;
    if (errors_) errors_->tick(now);
  }
  TimePoint next_tick() const override { return errors_ ? errors_->next_tick() : TimePoint::max(); }
  void finish() override {
    if (errors_) errors_->finish();
  }

 private:
  void print(std::span<const std::size_t> of, const Line& line) {
    if (of.size() == 1) return printer_.print(labels_[line.host][index_of(line.stream)], line);
    const View& view = printer_.view();
    printer_.print(
        lines_label(view.label, printer_.hosts(), of, line.stream, view.color[index_of(line.stream)]), line);
  }

  LinePrinter printer_;
  const std::size_t shown_;
  std::vector<std::array<std::string, kStreams>> labels_;
  std::optional<SharedErrors> errors_;  ///< if errors of several hosts are shown once
  TimePoint now_ = Clock::now();
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
  return view.label == Label::none && !view.timestamps &&
         std::find(view.controls.begin(), view.controls.end(), Controls::escape) == view.controls.end();
}

}  // namespace

std::unique_ptr<Sink> make_stream_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                       Terminal& terminal, Shown shown,
                                       std::chrono::milliseconds error_window) {
  const std::size_t count = shown == Shown::first ? std::min<std::size_t>(hosts.size(), 1) : hosts.size();
  if (count == 1 && shows_bytes(view)) return std::make_unique<RawSink>(view, terminal);
  return std::make_unique<StreamSink>(hosts, view, terminal, count, error_window);
}

}  // namespace podrun::output
