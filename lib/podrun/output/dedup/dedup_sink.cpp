// SPDX-License-Identifier: Apache-2.0
// The Sink of `--dedup`: asks the core which lines to show, and prints them with the hosts that have them.
#include "podrun/output/dedup/dedup_sink.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/dedup/log_remark.hpp"
#include "podrun/output/dedup/merged_line.hpp"
#include "podrun/output/dedup/set_labels.hpp"
#include "podrun/output/dedup/stragglers.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/line_printer.hpp"

namespace podrun::output {
namespace {

/// Only the text of one host is kept of a line with more measures or bytes, which nobody reads.
constexpr std::ptrdiff_t kMostMeasures = 64;
constexpr std::size_t kLongest = 4096;
constexpr std::size_t kLongestTag = 128;  ///< bytes; longer text names no process

/// So many lines in a row with other whole numbers than those of most hosts are no surprise any more.
constexpr std::size_t kOtherCounts = 4;

/// The numbers by which Dedup knows the processes of a host, by the tags at the start of their lines. A
/// process may have tags of several kinds, `[rank3]:` and `tpu-3:915:1034 [3] NCCL`, and lines without one.
/// So the first tag of each kind is of the host itself, and most hosts have no other.
struct Processes {
  std::map<std::string, std::size_t, std::less<>> numbers;
  std::set<std::string> kinds;
};

std::string kind_of(std::string_view tag) {
  std::string kind(tag);
  std::erase_if(kind, is_digit);
  return kind;
}

/// Compares the two streams separately, because a host's stdout and stderr arrive in no fixed order.
class DedupSink final : public Sink {
 public:
  DedupSink(const std::vector<hosts::Host>& hosts, const View& view, const SameLines& comparison,
            DedupLimits limits, Terminal& terminal)
      : printer_(hosts, view, terminal),
        labels_(hosts, view),
        stragglers_(hosts.size()),
        other_counts_(hosts.size()),
        compares_bytes_(comparison.same == Same::bytes) {
    processes_.fill(std::vector<Processes>(hosts.size()));
    limits.bytes /= kStreams;
    for (const StreamId stream : {StreamId::out, StreamId::err}) {
      const Dedup::Show show = [this, stream](const DedupedLine& line) { print(stream, line); };
      streams_.push_back(std::make_unique<Dedup>(hosts.size(), limits, show));
    }
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
      keys_.emplace_back(hosts[rank], rank, comparison, hosts.size());
    if (compares_bytes_ && comparison.ignored.empty()) remark_.emplace();
  }

  bool wants_names() const override { return true; }
  void host_named(std::size_t host, const std::vector<std::string>& names) override {
    keys_[host].add_names(names);
  }

  void line(const Line& line) override {
    stragglers_.printed(now_, line.host);
    const std::size_t stream = index_of(line.stream);
    SplitLine seen{line.text, line.end};
    if (line.end != LineEnd::piece && printer_.view().bars[stream] == Bars::fold)
      seen.text = last_state(line.text);
    streams_[stream]->tick(now_);  // here, since what it shows needs the keys' memory
    LineKey& of_host = keys_[line.host];
    const LineKeys keys = of_host.keys(compared(seen.text));
    const std::string_view tag = compares_bytes_ ? of_host.process(seen.text) : keys.process;
    DedupKey key{.key = keys.key, .of_process = !tag.empty() && tag.size() <= kLongestTag};
    if (keys.plain_key != keys.key) key.plain = keys.plain_key;
    const auto measures = std::ranges::count_if(keys.fields, &LogField::is_measure);
    key.keeps_texts = measures > 0 && measures <= kMostMeasures && seen.text.size() <= kLongest;
    const std::size_t source = key.of_process ? process(line.host, line.stream, tag) : line.host;
    streams_[stream]->line(now_, source, seen, key);
    if (remark_) remark_on(line.host, seen.text);
  }
  void host_ended(std::size_t host) override {
    stragglers_.host_ended(host);
    for (const auto& stream : streams_) stream->host_ended(host);
  }
  /// Shows the line that has waited longest first, of either stream.
  void tick(TimePoint now) override {
    now_ = now;
    for (TimePoint next = next_line(); next <= now; next = next_line()) {
      for (const auto& stream : streams_) {
        if (stream->next_tick() == next) stream->tick(next);
      }
    }
    for (const auto& stream : streams_) stream->tick(now);
    for (const Stragglers::Remark& remark : stragglers_.take_remarks(now))
      printer_.say("podrun: " + say(remark, fold_hosts(printer_.hosts(), remark.hosts)));
  }
  TimePoint next_tick() const override { return std::min(next_line(), stragglers_.next_check()); }

  void finish() override {
    for (const auto& stream : streams_) stream->finish();
    if (!printer_.is_read(StreamId::out)) return;  // a reader such as `| head` has left
    if (const std::string late = stragglers_.late_lines(printer_.hosts()); !late.empty())
      printer_.say("podrun: late: " + late + " (others had printed them, so they are not shown again)");
    if (std::ranges::any_of(streams_, [](const auto& stream) { return stream->overflowed(); }))
      printer_.say("podrun: too many different lines at once: some may appear twice");
  }

 private:
  TimePoint next_line() const {
    TimePoint next = TimePoint::max();
    for (const auto& stream : streams_) next = std::min(next, stream->next_tick());
    return next;
  }
  /// Only a bar's last state is compared: its earlier states differ on every host.
  std::string_view compared(std::string_view text) const { return compares_bytes_ ? text : last_state(text); }

  std::size_t process(std::size_t host, StreamId stream, std::string_view name) {
    constexpr std::size_t kMost = 64;
    Processes& processes = processes_[index_of(stream)][host];
    if (const auto known = processes.numbers.find(name); known != processes.numbers.end())
      return known->second;
    if (processes.numbers.size() == kMost) return host;  // no processes: a tag that changes
    std::size_t number = host;
    if (!processes.kinds.insert(kind_of(name)).second) number = streams_[index_of(stream)]->add_process(host);
    processes.numbers.emplace(name, number);
    return number;
  }
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
    if (line.late) {
      for (const std::size_t host : line.hosts) stragglers_.was_late(now_, host, *line.late);
      return;
    }
    if (line.hosts.size() > 1) {
      for (const std::size_t host : line.hosts) stragglers_.was_in_time(host);
    }
    const bool is_bar = compared(line.text).size() != line.text.size();
    if (!line.is_shared || compares_bytes_ || is_bar) return print(stream, line.hosts, line.text, line.end);
    const MeasuredLine common = measured(line.host, line.text, line.is_plain);
    if (line.texts.empty()) return print(stream, line.hosts, common.text, line.end);
    for (const MergedLine& merged : merge_lines(all_lines(line, common))) {
      print(stream, merged.hosts, merged.text, line.end);
      note_counts(merged);
    }
  }
  /// A host that is a step behind has other numbers in every line, which is said once.
  void note_counts(const MergedLine& line) {
    for (const std::size_t host : line.hosts) {
      std::size_t& lines = other_counts_[host];
      if (lines >= kOtherCounts) continue;
      lines = line.has_other_counts ? lines + 1 : 0;
      if (lines == kOtherCounts)
        printer_.say(fmt::format(
            "podrun: {} prints other numbers than most hosts: from here on they are in the ranges",
            fold_hosts(printer_.hosts(), {&host, 1})));
    }
  }
  /// The text of a host as it stands for others: what is its own has a general name. And its measures.
  MeasuredLine measured(std::size_t host, std::string_view text, bool is_plain) {
    MeasuredLine line{.host = host,
                      .text = {},
                      .measures = {},
                      .printed = text,
                      .has_other_counts = other_counts_[host] >= kOtherCounts};
    std::size_t at = 0;
    const LineKeys keys = keys_[host].keys(text);
    for (const LogField& field : is_plain ? keys.plain_fields : keys.fields) {
      line.text += text.substr(at, field.begin - at);
      const std::size_t begin = line.text.size();
      const bool is_name = field.kind == LogField::name || field.kind == LogField::ip;
      if (field.is_own() || field.kind == LogField::process_rank) {
        line.text += is_name ? "{host}" : "*";
      } else {
        line.text += text.substr(field.begin, field.end - field.begin);
      }
      if (field.is_measure())
        line.measures.push_back({begin, line.text.size(), field.kind == LogField::number});
      at = field.end;
    }
    line.text += text.substr(at);
    return line;
  }
  std::vector<MeasuredLine> all_lines(const DedupedLine& line, const MeasuredLine& first) {
    std::vector<MeasuredLine> lines = {first};
    std::vector<bool> differs(printer_.hosts().size());
    differs[line.host] = true;
    for (const DedupText& other : line.texts) {
      lines.push_back(measured(other.host, other.text, line.is_plain));
      differs[other.host] = true;
    }
    for (const std::size_t host : line.hosts) {
      if (differs[host]) continue;
      lines.push_back(first);
      lines.back().host = host;
    }
    return lines;
  }
  void print(StreamId stream, std::span<const std::size_t> hosts, std::string_view text, LineEnd end) {
    printer_.print(labels_.of(hosts, stream), Line{hosts.front(), stream, text, end});
  }

  LinePrinter printer_;
  SetLabels labels_;
  Stragglers stragglers_;
  std::array<std::vector<Processes>, kStreams> processes_;  ///< one per host
  std::vector<std::size_t> other_counts_;                   ///< lines in a row, by host
  const bool compares_bytes_;
  std::vector<std::unique_ptr<Dedup>> streams_;
  std::vector<LineKey> keys_;        ///< one per host
  std::optional<LogRemark> remark_;  ///< none once the remark was printed
  TimePoint now_ = Clock::now();
};

}  // namespace

std::unique_ptr<Sink> make_dedup_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                      const SameLines& comparison, const DedupLimits& limits,
                                      Terminal& terminal) {
  return std::make_unique<DedupSink>(hosts, view, comparison, limits, terminal);
}

}  // namespace podrun::output
