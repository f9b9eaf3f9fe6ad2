// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/json_sink.hpp"

#include <future>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "unit/output/pipe.hpp"

namespace podrun::output {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using nlohmann::json;
using test::Pipe;

constexpr WallTime kTime{1'795'268'522'123ms};

std::vector<hosts::Host> two_hosts() {
  std::vector<hosts::Host> hosts(2);
  hosts[0].worker = 4;
  hosts[0].name = "tpu-4";
  hosts[1].worker = 7;
  hosts[1].name = "tpu-7";
  return hosts;
}

/// Returns the lines that the sink prints for these.
std::vector<std::string> show(const std::vector<Line>& lines) {
  Pipe out;
  auto reader = std::async(std::launch::async, [&] { return out.read_to_end(); });
  Terminal terminal(out.write_fd(), -1);
  const auto sink = make_json_sink(two_hosts(), terminal, [] { return kTime; });
  EXPECT_EQ(sink->feed(), Feed::lines);
  for (const Line& line : lines) sink->line(line);
  terminal.flush();
  out.close_write();
  std::vector<std::string> shown;
  std::istringstream text(reader.get());
  for (std::string line; std::getline(text, line);) shown.push_back(line);
  return shown;
}

/// A line of the first host with this text.
json show(std::string_view text) { return json::parse(show({{0, StreamId::out, text}}).at(0)); }

TEST(FormatUtc, IsRfc3339WithMilliseconds) {
  EXPECT_EQ(format_utc(kTime), "2026-11-21T13:42:02.123Z");
  EXPECT_EQ(format_utc(WallTime(0ms)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc(WallTime(951'827'696'007ms + 900us)), "2000-02-29T12:34:56.007Z");
}

TEST(JsonSink, ShowsEachLineAsOneEvent) {
  const auto shown = show({{0, StreamId::out, "a"},
                           {1, StreamId::err, ""},
                           {1, StreamId::out, "b", LineEnd::end_of_stream},
                           {1, StreamId::out, "c", LineEnd::piece}});
  const std::string head = R"({"v":1,"event":"line","time":"2026-11-21T13:42:02.123Z",)";
  const std::vector<std::string> expected = {
      head + R"("worker":4,"host":"tpu-4","stream":"stdout","text":"a"})",
      head + R"("worker":7,"host":"tpu-7","stream":"stderr","text":""})",
      head + R"("worker":7,"host":"tpu-7","stream":"stdout","text":"b","end":"eof"})",
      head + R"("worker":7,"host":"tpu-7","stream":"stdout","text":"c","end":"piece"})"};
  EXPECT_EQ(shown, expected);
}

TEST(JsonSink, HasNoByteThatATerminalActsOn) {
  const std::string text =
      "\x1b]0;x\a \x7f \xc2\x9b"
      "A \xe2\x80\xae grün";
  const std::string shown = show(std::vector<Line>{{0, StreamId::out, text}}).at(0);
  EXPECT_NE(shown.find(R"("text":"\u001b]0;x\u0007 \u007f \u009bA \u202e grün")"), std::string::npos)
      << shown;
  EXPECT_EQ(json::parse(shown)["text"], text);
}

TEST(JsonSink, TakesTheTimeOfTheTick) {
  Pipe out;
  Terminal terminal(out.write_fd(), -1);
  WallTime now = kTime;
  const auto sink = make_json_sink(two_hosts(), terminal, [&] { return now; });
  now += 5s;
  sink->tick(Sink::TimePoint());
  now += 5s;
  sink->line({0, StreamId::out, "a"});
  terminal.flush();
  EXPECT_EQ(json::parse(out.read_some())["time"], "2026-11-21T13:42:07.123Z");
}

TEST(JsonSink, EscapesWhatJsonWantsEscaped) {
  const std::string shown = show({{0, StreamId::out, "\"\\/\b\f\r\t\x1b\x01\x7f\0"s}}).at(0);
  EXPECT_EQ(shown.substr(shown.find(R"("text")")),
            "\"text\":\"\\\"\\\\/\\b\\f\\r\\t\\u001b\\u0001\\u007f\\u0000\"}");
  for (int c = 0; c < 0x80; ++c) {
    const std::string text = "a" + std::string(1, static_cast<char>(c)) + "b";
    EXPECT_EQ(show(text)["text"], text) << c;
  }
}

TEST(JsonSink, KeepsUtf8AsItIs) {
  for (const auto* text : {"é", "€uro", "😀", "\u2028", "\ufffd", "\U0010ffff", "\u0080", "\u07ff", "\u0800",
                           "\ud7ff", "\ue000", "\uffff", "\U00010000"}) {
    EXPECT_EQ(show(text)["text"], text);
  }
}

TEST(JsonSink, ShowsOtherBytesAsBase64) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"\xff", "/w=="},
                                                                  {"a\xc3", "YcM="},
                                                                  {"\xc3(", "wyg="},
                                                                  {"\x80", "gA=="},
                                                                  {"\xc0\x80", "wIA="},
                                                                  {"\xc1\xbf", "wb8="},
                                                                  {"\xe0\x9f\xbf", "4J+/"},
                                                                  {"\xed\xa0\x80", "7aCA"},
                                                                  {"\xf0\x8f\xbf\xbf", "8I+/vw=="},
                                                                  {"\xf4\x90\x80\x80", "9JCAgA=="},
                                                                  {"\xf8\x88\x80\x80\x80", "+IiAgIA="},
                                                                  {"\xe2\x82", "4oI="}};
  for (const auto& [bytes, base64] : cases) {
    const json event = show(bytes);
    EXPECT_EQ(event["b64"], base64);
    EXPECT_FALSE(event.contains("text"));
  }
}

TEST(JsonSink, AgreesWithAnotherReaderOnWhatIsUtf8) {
  std::mt19937 random(1);  // NOLINT: the same run each time
  const std::vector<std::string> parts = {"a",    "\"",   "\n",   "\xc3", "\xa9", "\xe2",
                                          "\x82", "\xac", "\xed", "\xa0", "\xf0", "\x9f",
                                          "\x98", "\x80", "\xf4", "\x8f", "\xbf", "\xc0"};
  std::size_t valid = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (std::size_t size = random() % 5; size > 0; --size) text += parts[random() % parts.size()];
    bool is_utf8 = true;
    try {
      static_cast<void>(json(text).dump());
    } catch (const json::type_error&) {
      is_utf8 = false;
    }
    const json event = show(text);
    EXPECT_EQ(event.contains("text"), is_utf8) << testing::PrintToString(text);
    if (is_utf8) {
      EXPECT_EQ(event["text"], text);
      ++valid;
    }
  }
  EXPECT_GT(valid, 500U);
}

}  // namespace
}  // namespace podrun::output
