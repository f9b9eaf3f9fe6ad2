// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/stream_sink.hpp"

#include <string>

#include <fmt/format.h>

namespace podrun {
namespace {

constexpr std::size_t kKiB = 1024;

std::string format_size(std::size_t bytes) {
  if (bytes % (kKiB * kKiB) == 0) return fmt::format("{} MiB", bytes / (kKiB * kKiB));
  return fmt::format("{} KiB", bytes / kKiB);
}

class StreamSink final : public Sink {
 public:
  StreamSink(const std::vector<Host>& hosts, const LabelStyle& style, Terminal& terminal)
      : terminal_(terminal) {
    for (const Host& host : hosts) {
      HostLines& lines = hosts_.emplace_back();
      lines.number = host.label;
      for (const StreamId stream : {StreamId::out, StreamId::err}) {
        const std::size_t i = index_of(stream);
        lines.streams[i].label = line_label(style.label, host, stream, style.color[i]);
      }
    }
  }

  void line(const Line& line) override {
    HostLines& host = hosts_[line.host];
    StreamLines& stream = host.streams[index_of(line.stream)];
    if (line.end == LineEnd::piece && !stream.pieces_said) {
      stream.pieces_said = true;
      say_pieces(host.number, line);
    }
    terminal_.append(line.stream, {stream.label, line.text, "\n"});
  }

 private:
  struct StreamLines {
    std::string label;
    bool pieces_said = false;
  };
  struct HostLines {
    std::size_t number = 0;
    std::array<StreamLines, kStreams> streams;
  };

  void say_pieces(std::size_t number, const Line& piece) {
    terminal_.append(
        StreamId::err,
        {fmt::format("podrun: [{}] a line of {} is longer than {}: shown in pieces\n", number,
                     piece.stream == StreamId::out ? "stdout" : "stderr", format_size(piece.text.size()))});
  }

  Terminal& terminal_;
  std::vector<HostLines> hosts_;
};

class RawSink final : public Sink {
 public:
  explicit RawSink(Terminal& terminal) : terminal_(terminal) {}

  Feed feed() const override { return Feed::chunks; }
  void line(const Line& line) override { terminal_.append(line.stream, {line.text}); }

 private:
  Terminal& terminal_;
};

}  // namespace

std::unique_ptr<Sink> make_stream_sink(const std::vector<Host>& hosts, const LabelStyle& style,
                                       Terminal& terminal) {
  if (hosts.size() == 1 && style.label == Label::none) return std::make_unique<RawSink>(terminal);
  return std::make_unique<StreamSink>(hosts, style, terminal);
}

}  // namespace podrun
