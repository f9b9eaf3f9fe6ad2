// SPDX-License-Identifier: Apache-2.0
// The Sink of `--json`: each line of output as an event, as in docs/json.md.
#include "podrun/output/json_sink.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/chunk.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"

namespace podrun::output {
namespace {

bool stands_for_itself(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

void append_escaped(std::string& json, char c) {
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  const std::size_t named = kNamed.find(c);
  if (named != std::string_view::npos) {
    json += {'\\', kNames[named]};
  } else {
    fmt::format_to(std::back_inserter(json), "\\u{:04x}", c);
  }
}

/// Appends the inside of a JSON string; returns false, after a part of it, if `text` is not UTF-8. Written by
/// hand for speed, because all output goes through it.
bool append_text(std::string& json, std::string_view text) {
  while (!text.empty()) {
    std::size_t size = 0;
    while (size < text.size() && stands_for_itself(text[size])) ++size;
    if (size < text.size() && static_cast<unsigned char>(text[size]) >= 0x80) {
      const Utf8Character character = first_utf8(text.substr(size));
      if (character.bytes == 0) return false;
      if (acts_on_terminal(character.value)) {
        json += text.substr(0, size);
        fmt::format_to(std::back_inserter(json), "\\u{:04x}", static_cast<unsigned>(character.value));
        text.remove_prefix(size + character.bytes);
        continue;
      }
      size += character.bytes;
    } else if (size == 0) {
      append_escaped(json, text.front());
      text.remove_prefix(1);
      continue;
    }
    json += text.substr(0, size);
    text.remove_prefix(size);
  }
  return true;
}

std::string_view end_of(LineEnd end) {
  if (end == LineEnd::piece) return R"(","end":"piece"})";
  if (end == LineEnd::end_of_stream) return R"(","end":"eof"})";
  return R"("})";
}

class JsonSink final : public Sink {
 public:
  JsonSink(const std::vector<hosts::Host>& hosts, Terminal& terminal, std::function<WallTime()> wall_clock)
      : terminal_(terminal), wall_clock_(std::move(wall_clock)), time_(format_utc(wall_clock_())) {
    for (const hosts::Host& host : hosts) {
      auto& heads = heads_.emplace_back();
      std::string name;
      append_text(name, host.name);
      for (const StreamId stream : {StreamId::out, StreamId::err}) {
        heads[index_of(stream)] = fmt::format(R"(","worker":{},"host":"{}","stream":"{}",)", host.worker,
                                              name, stream == StreamId::out ? "stdout" : "stderr");
      }
    }
  }

  void tick(TimePoint /*now*/) override { time_ = format_utc(wall_clock_()); }

  void line(const Line& line) override {
    content_ = R"("text":")";
    if (!append_text(content_, line.text)) {
      content_ = R"("b64":")";
      append_base64(content_, line.text);
    }
    terminal_.append(StreamId::out,
                     {R"({"v":1,"event":"line","time":")", time_, heads_[line.host][index_of(line.stream)],
                      content_, end_of(line.end), "\n"});
  }

 private:
  Terminal& terminal_;
  const std::function<WallTime()> wall_clock_;
  std::string time_;
  std::vector<std::array<std::string, kStreams>> heads_;  ///< the text between the time and the content
  std::string content_;                                   ///< a member, to keep its memory
};

}  // namespace

std::string format_utc(WallTime time) {
  const auto rounded = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(rounded);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(rounded - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::unique_ptr<Sink> make_json_sink(const std::vector<hosts::Host>& hosts, Terminal& terminal,
                                     std::function<WallTime()> wall_clock) {
  return std::make_unique<JsonSink>(hosts, terminal, std::move(wall_clock));
}

}  // namespace podrun::output
