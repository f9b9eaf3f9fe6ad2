// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup_sink.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/rank_set.hpp"
#include "podrun/output/log_key.hpp"

namespace podrun {
namespace {

/// Labels of sets of hosts, since the same few come again and again.
class SetLabels {
 public:
  SetLabels(const std::vector<Host>& hosts, const View& view) : hosts_(hosts), view_(view) {}

  const std::string& of(std::span<const std::size_t> hosts, StreamId stream) {
    auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& candidate) {
      return candidate.stream == stream && std::ranges::equal(candidate.hosts, hosts);
    });
    if (known == known_.end()) {
      known = known_.begin() + static_cast<std::ptrdiff_t>(next_++ % kKept);
      known->hosts.assign(hosts.begin(), hosts.end());
      known->stream = stream;
      known->text = lines_label(view_.label, hosts_, hosts, stream, view_.color[index_of(stream)]);
    }
    return known->text;
  }

 private:
  static constexpr std::size_t kKept = 16;

  struct Known {
    std::vector<std::size_t> hosts;  ///< none: not used yet
    StreamId stream = StreamId::out;
    std::string text;
  };

  const std::vector<Host> hosts_;
  const View view_;
  std::array<Known, kKept> known_;
  std::size_t next_ = 0;
};

/// The streams apart, since it is by chance in which order a host's stdout and stderr come here.
class DedupSink final : public Sink {
 public:
  DedupSink(const std::vector<Host>& hosts, const View& view, Same same, DedupLimits limits,
            Terminal& terminal)
      : printer_(hosts, view, terminal), labels_(hosts, view) {
    limits.bytes /= kStreams;
    const Dedup::Show show = [this](const DedupedLine& line) { print(line); };
    for (std::size_t stream = 0; stream < kStreams; ++stream)
      streams_.push_back(std::make_unique<Dedup>(hosts.size(), limits, show));
    if (same == Same::bytes) return;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) keys_.emplace_back(hosts[rank], rank);
  }

  void line(const Line& line) override {
    const std::size_t stream = index_of(line.stream);
    Line seen = line;
    if (line.end != LineEnd::piece && printer_.view().bars[stream] == Bars::fold)
      seen.text = last_state(line.text);
    streams_[stream]->line(now_, seen, key_of(seen));
  }
  void host_ended(std::size_t host) override {
    for (const auto& stream : streams_) stream->host_ended(host);
  }
  /// What has waited longest is shown first, of whichever stream.
  void tick(TimePoint now) override {
    now_ = now;
    for (TimePoint next = next_tick(); next <= now; next = next_tick()) {
      for (const auto& stream : streams_) {
        if (stream->next_tick() == next) stream->tick(next);
      }
    }
    for (const auto& stream : streams_) stream->tick(now);
  }
  TimePoint next_tick() const override {
    TimePoint next = TimePoint::max();
    for (const auto& stream : streams_) next = std::min(next, stream->next_tick());
    return next;
  }

  void finish() override {
    for (const auto& stream : streams_) stream->finish();
    say_late();
    if (std::ranges::any_of(streams_, [](const auto& stream) { return stream->overflowed(); }))
      printer_.say("podrun: more lines differed at a time than can be kept: some may have been shown twice");
  }

 private:
  /// How a bar came to its last state differs by nature.
  std::string_view key_of(const Line& line) {
    return keys_.empty() ? line.text : keys_[line.host].key(last_state(line.text), key_);
  }
  void print(const DedupedLine& line) {
    printer_.print(labels_.of(line.hosts, line.stream),
                   Line{line.hosts.front(), line.stream, line.text, line.end});
  }
  LateLines late_lines_of(std::size_t host) const {
    LateLines all;
    for (const auto& stream : streams_) {
      all.lines += stream->late()[host].lines;
      all.lag = std::max(all.lag, stream->late()[host].lag);
    }
    return all;
  }

  /// `late: [7] 120 lines, up to 4.2 s behind`
  void say_late() {
    std::vector<std::size_t> ranks;
    std::size_t lines = 0;
    std::size_t latest = 0;
    Clock::duration lag{};
    for (std::size_t host = 0; host < printer_.hosts(); ++host) {
      const LateLines late = late_lines_of(host);
      if (late.lines == 0) continue;
      if (ranks.empty() || late.lag > lag) latest = host;
      lag = std::max(lag, late.lag);
      ranks.push_back(printer_.host(host).label);
      lines += late.lines;
    }
    if (ranks.empty()) return;
    const bool several = ranks.size() > 1;
    printer_.say(fmt::format("podrun: late: [{}] {} line{}, up to {:.1f} s behind{}",
                             fold_ranks(std::move(ranks)), lines, lines == 1 ? "" : "s",
                             std::chrono::duration<double>(lag).count(),
                             several ? fmt::format(" ([{}])", printer_.host(latest).label) : ""));
  }

  LinePrinter printer_;
  SetLabels labels_;
  std::vector<std::unique_ptr<Dedup>> streams_;
  std::vector<LogKey> keys_;  ///< of each host; none: the bytes are compared
  std::string key_;
  TimePoint now_ = Clock::now();
};

}  // namespace

std::unique_ptr<Sink> make_dedup_sink(const std::vector<Host>& hosts, const View& view, Same same,
                                      const DedupLimits& limits, Terminal& terminal) {
  return std::make_unique<DedupSink>(hosts, view, same, limits, terminal);
}

}  // namespace podrun
