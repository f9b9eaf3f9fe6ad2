// SPDX-License-Identifier: Apache-2.0
// The Sink of `--gather`: keeps all output and shows outputs that count as equal once, at the end.
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/expect.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/make_sinks.hpp"

namespace podrun::output {
namespace {

/// The SHA-256 of a stream: streams with equal digests have equal bytes.
class Digest {
 public:
  bool empty() const { return !context_; }

  void update(std::string_view bytes) {
    if (!context_) {
      context_.reset(EVP_MD_CTX_new());
      check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
    }
    check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  }

  /// At the end.
  std::string value() {
    ending_.call("Digest::value() is called once");
    std::string value(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    check(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(value.data()), &size));
    value.resize(size);
    return value;
  }

 private:
  static void check(int status) {
    if (status != 1) throw std::runtime_error("OpenSSL has no SHA-256");
  }

  Once ending_;
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{nullptr, &EVP_MD_CTX_free};
};

/// Takes a stream of a host. Streams count as equal if they have a digest in common.
class Compared {
 public:
  Compared(const hosts::Host& host, std::size_t rank, const SameLines& comparison, std::size_t hosts) {
    if (comparison.same == Same::bytes && comparison.ignored.empty()) return;
    lines_ = std::make_unique<Lines>(
        Lines{.splitter = LineSplitter(line_limit(hosts)), .key = LineKey(host, rank, comparison, hosts)});
  }

  bool has_keys() const { return lines_ != nullptr; }
  void add_names(const std::vector<std::string>& names) {
    if (lines_) lines_->key.add_names(names);
  }

  void update(std::string_view bytes) {
    if (!lines_) return key_.update(bytes);
    while (const auto line = lines_->splitter.next(bytes)) add(*line);
  }

  /// At the end. Empty: the stream was empty.
  std::vector<std::string> digests() {
    if (lines_) {
      if (const auto last = lines_->splitter.end()) add(*last);
    }
    std::vector<std::string> digests;
    for (Digest* const digest : {&plain_, &key_}) {
      if (!digest->empty()) digests.push_back(digest->value());
    }
    return digests;
  }

 private:
  struct Lines {
    LineSplitter splitter;
    LineKey key;
  };

  void add(const SplitLine& line) {
    const LineKeys keys = lines_->key.keys(last_state(line.text));
    const std::string_view end = line.end == LineEnd::newline ? "\n" : "";
    for (const std::string_view part : {keys.key, end}) key_.update(part);
    for (const std::string_view part : {keys.plain_key, end}) plain_.update(part);
  }

  std::unique_ptr<Lines> lines_;  ///< null: all bytes count. It is large, and most runs need none.
  Digest key_;
  Digest plain_;
};

class GatherSink final : public Sink {
 public:
  GatherSink(const std::vector<hosts::Host>& hosts, const View& view, const SameLines& comparison,
             Terminal& terminal, SpoolSpace space)
      : printer_(hosts, view, terminal),
        terminal_(terminal),
        spool_(hosts.size() * kStreams, std::move(space)),
        is_cut_(hosts.size()) {
    for (std::size_t place = 0; place < hosts.size() * kStreams; ++place) {
      const std::size_t host = place / kStreams;
      compared_.emplace_back(hosts[host], host, comparison, hosts.size());
    }
  }

  Feed feed() const override { return Feed::chunks; }

  bool wants_names() const override { return !compared_.empty() && compared_.front().has_keys(); }
  void host_named(std::size_t host, const std::vector<std::string>& names) override {
    for (const StreamId stream : {StreamId::out, StreamId::err})
      compared_[place_of(host, stream)].add_names(names);
  }

  void line(const Line& line) override {
    const std::size_t place = place_of(line.host, line.stream);
    if (line.text.empty()) return;
    if (spool_.append(place, line.text)) {
      compared_[place].update(line.text);
    } else {
      is_cut_[line.host] = true;
    }
  }

  void finish() override {
    for (const StreamId stream : {StreamId::out, StreamId::err}) {
      for (const EqualHosts& group : group_equal(stream)) print(group, stream);
    }
    EqualHosts cut;
    for (std::size_t host = 0; host < is_cut_.size(); ++host) {
      if (is_cut_[host]) cut.push_back(host);
    }
    if (!cut.empty())
      printer_.say(
          fmt::format("podrun: {}: the output shown is cut short", fold_hosts(printer_.hosts(), cut)));
  }

  const std::string* error() const override { return spool_.error(); }

 private:
  using EqualHosts = std::vector<std::size_t>;  // hosts

  static std::size_t place_of(std::size_t host, StreamId stream) {
    return host * kStreams + index_of(stream);
  }

  /// Groups the hosts whose output counts as equal, ordered by the first host of each group.
  std::vector<EqualHosts> group_equal(StreamId stream) {
    std::vector<EqualHosts> groups;
    std::unordered_map<std::string, std::size_t> places;  // by digest
    for (std::size_t host = 0; host < printer_.hosts().size(); ++host) {
      const std::vector<std::string> digests = compared_[place_of(host, stream)].digests();
      if (digests.empty()) continue;
      const auto known =
          std::ranges::find_if(digests, [&](const std::string& digest) { return places.contains(digest); });
      const std::size_t place = known == digests.end() ? groups.size() : places.at(*known);
      if (place == groups.size()) {
        groups.emplace_back();
        for (const std::string& digest : digests) places.emplace(digest, place);
      }
      groups[place].push_back(host);
    }
    return groups;
  }

  void print(const EqualHosts& group, StreamId stream) {
    const StreamId shown_on = printer_.view().shown_on[index_of(stream)];
    if (printer_.view().label != Label::none) terminal_.append(shown_on, {header(group, stream), "\n"});
    const std::size_t host = group.front();
    LineSplitter splitter(line_limit(1));
    const bool complete = spool_.read(place_of(host, stream), [&](std::string_view block) {
      while (const auto line = splitter.next(block))
        printer_.print({}, {host, stream, line->text, line->end});
      return printer_.is_read(stream);  // false: no reader is left for the rest
    });
    if (const auto last = splitter.end()) printer_.print({}, {host, stream, last->text, last->end});
    if (complete) return;
    for (const std::size_t member : group) is_cut_[member] = true;
  }

  /// `[0-30] (31)`, `[7] tpu-7 (1) stderr`
  std::string header(const EqualHosts& group, StreamId stream) const {
    const hosts::Host& first = printer_.hosts()[group.front()];
    const bool named = group.size() == 1 && printer_.view().label != Label::worker;
    const std::string text = fmt::format("{}{} ({}){}", fold_hosts(printer_.hosts(), group),
                                         named ? " " + escape_controls(first.name) : "", group.size(),
                                         stream == StreamId::err ? " stderr" : "");
    return printer_.view().color[index_of(stream)] == Color::on ? fmt::format("\x1b[0;1m{}\x1b[0m", text)
                                                                : text;
  }

  LinePrinter printer_;
  Terminal& terminal_;
  Spool spool_;
  std::vector<Compared> compared_;
  std::vector<bool> is_cut_;  ///< hosts with missing output
};

}  // namespace

std::unique_ptr<Sink> make_gather_sink(const std::vector<hosts::Host>& hosts, const View& view,
                                       const SameLines& comparison, Terminal& terminal, SpoolSpace space) {
  return std::make_unique<GatherSink>(hosts, view, comparison, terminal, std::move(space));
}

}  // namespace podrun::output
