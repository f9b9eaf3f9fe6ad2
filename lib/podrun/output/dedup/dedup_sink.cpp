// SPDX-License-Identifier: Apache-2.0
// The Sink of `--dedup`: asks the core which lines to show, and prints them with the hosts that have them.
#include "podrun/output/dedup/dedup_sink.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/output/label.hpp"

namespace podrun::output {
namespace {

/// A cache of labels, because the same few sets of hosts occur repeatedly.
class SetLabels {
 public:
  SetLabels(const std::vector<hosts::Host>& hosts, const View& view) : hosts_(hosts), view_(view) {}

  /// The label; if labels are aligned, padded to the widest of the last lines. Valid until the next call.
  std::string_view of(std::span<const std::size_t> hosts, StreamId stream) {
    auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& candidate) {
      return candidate.stream == stream && std::ranges::equal(candidate.hosts, hosts);
    });
    if (known == known_.end()) known = make(hosts, stream);
    if (!view_.align) return known->text;
    note_width(known->width);
    padded_ = known->text;
    padded_.append(column_ - std::min(column_, known->width), ' ');
    return padded_;
  }

 private:
  static constexpr std::size_t kKept = 16;
  static constexpr std::size_t kWidest = 20;  ///< cells; a wider one moves only its own line

  struct Known {
    std::vector<std::size_t> hosts;  ///< empty: unused
    StreamId stream = StreamId::out;
    std::string text;
    std::size_t width = 0;  ///< cells
  };
  using Place = std::array<Known, kKept>::iterator;

  /// The column of the text grows at once, and shrinks after kLines lines that need less.
  void note_width(std::size_t width) {
    constexpr std::size_t kLines = 40;
    if (width > kWidest) return;
    recent_ = std::max(recent_, width);
    column_ = std::max(column_, width);
    if (++lines_ < kLines) return;
    column_ = std::exchange(recent_, 0);
    lines_ = 0;
  }
  Place make(std::span<const std::size_t> hosts, StreamId stream) {
    const Place made = known_.begin() + static_cast<std::ptrdiff_t>(next_++ % kKept);
    made->hosts.assign(hosts.begin(), hosts.end());
    made->stream = stream;
    made->width = lines_label(view_.label, hosts_, hosts, stream, Color::off).size();
    made->text = lines_label(view_.label, hosts_, hosts, stream, view_.color[index_of(stream)]);
    return made;
  }

  const std::vector<hosts::Host> hosts_;
  const View view_;
  std::array<Known, kKept> known_;
  std::size_t next_ = 0;
  std::size_t column_ = 0;  ///< cells before the text
  std::size_t recent_ = 0;  ///< the widest label of the last `lines_` lines
  std::size_t lines_ = 0;
  std::string padded_;
};

/// `120 lines, up to 4.2 s behind`
std::string describe(const LateLines& late) {
  const double seconds = std::chrono::duration<double>(late.lag).count();
  const std::string lag =
      seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1000) : fmt::format("{:.1f} s", seconds);
  return fmt::format("{} line{}, up to {} behind", late.lines, late.lines == 1 ? "" : "s", lag);
}

/// Compares the two streams separately, because a host's stdout and stderr arrive in no fixed order.
class DedupSink final : public Sink {
 public:
  DedupSink(const std::vector<hosts::Host>& hosts, const View& view, const Comparison& comparison,
            DedupLimits limits, Terminal& terminal)
      : printer_(hosts, view, terminal),
        labels_(hosts, view),
        compares_bars_(comparison.same != Same::bytes) {
    limits.bytes /= kStreams;
    for (const StreamId stream : {StreamId::out, StreamId::err}) {
      const Dedup::Show show = [this, stream](const DedupedLine& line) { print(stream, line); };
      streams_.push_back(std::make_unique<Dedup>(hosts.size(), limits, show));
    }
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) keys_.emplace_back(hosts[rank], rank, comparison);
    if (comparison.same == Same::bytes && comparison.ignored.empty()) remark_.emplace();
  }

  void line(const Line& line) override {
    const std::size_t stream = index_of(line.stream);
    SplitLine seen{line.text, line.end};
    if (line.end != LineEnd::piece && printer_.view().bars[stream] == Bars::fold)
      seen.text = last_state(line.text);
    // Only a bar's last state is compared: its earlier states differ on every host.
    const std::string_view compared = compares_bars_ ? last_state(seen.text) : seen.text;
    streams_[stream]->line(now_, line.host, seen, keys_[line.host].key(compared));
    if (remark_) remark_on(line.host, seen.text);
  }
  void host_ended(std::size_t host) override {
    for (const auto& stream : streams_) stream->host_ended(host);
  }
  /// Shows the line that has waited longest first, of either stream.
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
    if (!printer_.is_read(StreamId::out)) return;  // a reader such as `| head` has left
    say_late();
    if (std::ranges::any_of(streams_, [](const auto& stream) { return stream->overflowed(); }))
      printer_.say("podrun: too many different lines at once: some may appear twice");
  }

 private:
  void remark_on(std::size_t host, std::string_view text) {
    if (remark_->is_due(now_)) {
      printer_.say(
          "podrun: the lines of the hosts differ only in timestamps, pids and the like; --dedup=log shows "
          "them once");
      remark_.reset();
    } else if (remark_->wants_line(now_)) {
      remark_->add(host, text, keys_[host].log_key(last_state(text)));
    }
  }
  void print(StreamId stream, const DedupedLine& line) {
    printer_.print(labels_.of(line.hosts, stream), Line{line.hosts.front(), stream, line.text, line.end});
  }
  LateLines late_lines_of(std::size_t host) const {
    LateLines all;
    for (const auto& stream : streams_) {
      all.lines += stream->late()[host].lines;
      all.lag = std::max(all.lag, stream->late()[host].lag);
    }
    return all;
  }

  /// `late: [7] 120 lines, up to 4.2 s behind; [1-3] 8 lines, up to 40 ms behind (…)`
  void say_late() {
    Clock::duration worst{};
    for (std::size_t host = 0; host < printer_.hosts().size(); ++host)
      worst = std::max(worst, late_lines_of(host).lag);
    std::string text;
    for (const bool far_behind : {true, false}) {
      LateLines all;
      std::vector<std::size_t> hosts;
      for (std::size_t host = 0; host < printer_.hosts().size(); ++host) {
        const LateLines late = late_lines_of(host);
        if (late.lines == 0 || (late.lag >= worst / 4) != far_behind) continue;
        hosts.push_back(host);
        all = {all.lines + late.lines, std::max(all.lag, late.lag)};
      }
      if (hosts.empty()) continue;
      text += fmt::format("{}{} {}", text.empty() ? "podrun: late: " : "; ",
                          fold_hosts(printer_.hosts(), hosts), describe(all));
    }
    if (text.empty()) return;
    printer_.say(text + " (others had printed them, so they are not shown again)");
  }

  LinePrinter printer_;
  SetLabels labels_;
  const bool compares_bars_;
  std::vector<std::unique_ptr<Dedup>> streams_;
  std::vector<LineKey> keys_;        ///< one per host
  std::optional<LogRemark> remark_;  ///< none once the remark was printed
  TimePoint now_ = Clock::now();
};

}  // namespace

bool LogRemark::wants_line(TimePoint now) {
  if (!begun_ || now >= *begun_ + kWindow) {
    *this = LogRemark();
    begun_ = now;
  }
  return lines_ < kMost;
}

void LogRemark::add(std::size_t host, std::string_view text, std::string_view log_key) {
  ++lines_;
  if (is_of_another_host(texts_, text, host)) ++equal_;
  if (is_of_another_host(keys_, log_key, host)) ++equal_keys_;
}

bool LogRemark::is_of_another_host(Seen& seen, std::string_view text, std::size_t host) {
  return seen.emplace(std::hash<std::string_view>()(text), host).first->second != host;
}

bool LogRemark::is_due(TimePoint now) const {
  return begun_ && now >= *begun_ + kWindow && lines_ >= kLeast && equal_ * 10 < lines_ &&
         equal_keys_ * 3 > lines_;
}

std::unique_ptr<Sink> make_dedup_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                      const Comparison& comparison, const DedupLimits& limits,
                                      Terminal& terminal) {
  return std::make_unique<DedupSink>(hosts, view, comparison, limits, terminal);
}

}  // namespace podrun::output
