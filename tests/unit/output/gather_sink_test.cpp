// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <future>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "podrun/output/make_sinks.hpp"

#include "support/pod.hpp"
#include "support/temp_directory.hpp"
#include "unit/output/pipe.hpp"

namespace podrun::output {
namespace {

using test::Pipe;
using test::pod;
using test::TempDirectory;

constexpr StreamId kOut = StreamId::out;
constexpr StreamId kErr = StreamId::err;

struct Given {
  std::size_t host;
  StreamId stream;
  std::string_view bytes;
};

struct Shown {
  std::string out;
  std::string err;
  std::string error;  ///< the sink's
};

Shown gather(const std::vector<hosts::Host>& hosts, const View& view, const std::vector<Given>& given,
             SpoolSpace space = {}, const SameLines& comparison = {}) {
  Pipe out;
  Pipe err;
  Shown shown;
  auto reader = std::async(std::launch::async, [&] { return out.read_to_end(); });
  auto err_reader = std::async(std::launch::async, [&] { return err.read_to_end(); });
  Terminal terminal(out.write_fd(), err.write_fd());
  const auto sink = make_gather_sink(hosts, view, comparison, terminal, std::move(space));
  EXPECT_EQ(sink->feed(), Feed::chunks);
  for (std::size_t host = 0; sink->wants_names() && host < hosts.size(); ++host)
    sink->host_named(host, {"gpu-" + std::string(1, static_cast<char>('a' + host))});
  for (const Given& each : given) sink->line({each.host, each.stream, each.bytes, LineEnd::piece});
  sink->finish();
  if (sink->error()) shown.error = *sink->error();
  terminal.flush();
  out.close_write();
  err.close_write();
  shown.out = reader.get();
  shown.err = err_reader.get();
  return shown;
}

TEST(GatherSink, ComparesLinesAsAsked) {
  const std::vector<Given> given = {{0, kOut, "08:00:01 INFO up\nloss 2"},
                                    {0, kOut, ".31\n"},
                                    {1, kOut, "08:00:02 INFO up\nloss 2.31\n"},
                                    {2, kOut, "08:00:02 INFO up\nloss 2.32\n"},
                                    {3, kOut, "08:00:03 INFO up\nloss 2.31"}};
  const std::string one = "08:00:01 INFO up\nloss 2.31\n";
  EXPECT_EQ(
      gather(pod(4), {}, given, {}, {.same = Same::log_line}).out,
      "[0,1] (2)\n" + one + "[2] (1)\n08:00:02 INFO up\nloss 2.32\n[3] (1)\n08:00:03 INFO up\nloss 2.31\n");
  EXPECT_EQ(gather(pod(4), {}, given, {}, {.same = Same::numbers}).out,
            "[0-2] (3)\n" + one + "[3] (1)\n08:00:03 INFO up\nloss 2.31\n");
  EXPECT_EQ(gather(pod(4), {}, given, {}, {.ignored = {Regex("[0-9:]+ INFO"), Regex("2.3[0-9]")}}).out,
            "[0-2] (3)\n" + one + "[3] (1)\n08:00:03 INFO up\nloss 2.31\n");
}

TEST(GatherSink, LeavesOutHowAHostCallsItself) {
  const std::vector<Given> given = {
      {0, kOut, "I am gpu-a\n"}, {1, kOut, "I am gpu-b\n"}, {2, kOut, "I am gpu-a\n"}};
  EXPECT_EQ(gather(pod(3), {}, given, {}, {.same = Same::log_line}).out, "[0-2] (3)\nI am gpu-a\n")
      << "as the first printed it; [2] printed the same bytes";
  EXPECT_EQ(gather(pod(3), {}, given).out, "[0,2] (2)\nI am gpu-a\n[1] (1)\nI am gpu-b\n");
}

TEST(GatherSink, ShowsEqualOutputOnce) {
  std::vector<Given> given;
  for (std::size_t host = 0; host < 32; ++host) {
    given.push_back({host, kOut, host == 7 ? "no\n" : "yes\nye"});
    if (host != 7) given.push_back({host, kOut, "s\n"});
  }
  EXPECT_EQ(gather(pod(32), {}, given).out, "[0-6,8-31] (31)\nyes\nyes\n[7] (1)\nno\n");
}

TEST(GatherSink, OrdersGroupsByTheirFirstHost) {
  const auto shown =
      gather(pod(4), {}, {{3, kOut, "b\n"}, {1, kOut, "a\n"}, {0, kOut, "b\n"}, {2, kOut, "c\n"}});
  EXPECT_EQ(shown.out, "[0,3] (2)\nb\n[1] (1)\na\n[2] (1)\nc\n");
}

TEST(GatherSink, GroupsEachStreamByItself) {
  const auto shown = gather(pod(2), {}, {{0, kOut, "a\n"}, {1, kOut, "a\n"}, {1, kErr, "oh\n"}});
  EXPECT_EQ(shown.out, "[0,1] (2)\na\n");
  EXPECT_EQ(shown.err, "[1] (1) stderr\noh\n");
}

TEST(GatherSink, EqualMeansByteForByte) {
  using namespace std::string_view_literals;
  const auto shown =
      gather(pod(4), {}, {{0, kOut, "a\n"}, {1, kOut, "a"}, {2, kOut, "a\r\n"}, {3, kOut, "\0\n"sv}});
  EXPECT_EQ(shown.out, "[0] (1)\na\n[1] (1)\na\n[2] (1)\na\r\n[3] (1)\n\0\n"sv);
}

TEST(GatherSink, ShowsNothingOfHostsThatPrintedNothing) {
  EXPECT_EQ(gather(pod(3), {}, {{1, kOut, "a\n"}, {2, kOut, ""}}).out, "[1] (1)\na\n");
  EXPECT_EQ(gather(pod(3), {}, {}).out, "");
}

TEST(GatherSink, NamesASingleHostWhereLabelsHaveNames) {
  const std::vector<Given> given = {{0, kOut, "a\n"}, {1, kOut, "a\n"}, {2, kOut, "b\n"}};
  EXPECT_EQ(gather(pod(3), {Label::host}, given).out, "[0,1] (2)\na\n[2] tpu-2 (1)\nb\n");
  EXPECT_EQ(gather(pod(3), {Label::both}, given).out, "[0,1] (2)\na\n[2] tpu-2 (1)\nb\n");
  EXPECT_EQ(gather(pod(3), {Label::none}, given).out, "a\nb\n");
}

TEST(GatherSink, UsesTheLabelsOfTheHosts) {
  std::vector<hosts::Host> hosts = pod(2);
  hosts[0].worker = 5;
  hosts[1].worker = 9;
  EXPECT_EQ(gather(hosts, {}, {{0, kOut, "a\n"}, {1, kOut, "a\n"}}).out, "[5,9] (2)\na\n");
}

TEST(GatherSink, ShowsTheContentAsTheViewWants) {
  View view{.controls = {Controls::escape, Controls::escape}};
  view.color[0] = Color::on;
  view.bars[0] = Bars::fold;
  const auto shown =
      gather(pod(1), view, {{0, kOut, "10%\r90%\r100%\n"}, {0, kOut, "\x1b[K\n"}, {0, kErr, "\a\r!\n"}});
  EXPECT_EQ(shown.out, "\x1b[0;1m[0] (1)\x1b[0m\n100%\n\\x1b[K\n");
  EXPECT_EQ(shown.err, "[0] (1) stderr\n\\x07\\x0d!\n");
}

TEST(GatherSink, CanLeaveStandardOutputToAnother) {
  View view;
  view.shown_on[0] = kErr;
  const auto shown = gather(pod(1), view, {{0, kErr, "b\n"}, {0, kOut, "a\n"}});
  EXPECT_EQ(shown.out, "");
  EXPECT_EQ(shown.err, "[0] (1)\na\n[0] (1) stderr\nb\n");
}

TEST(GatherSink, GroupsWhatWentToDisk) {
  const TempDirectory directory;
  const std::string text = std::string(300'000, 'x') + "\n";
  std::vector<Given> given;
  for (std::size_t i = 0; i < text.size(); i += 10'000) {
    const std::string_view part = std::string_view(text).substr(i, 10'000);
    for (std::size_t host = 0; host < 3; ++host) given.push_back({host, kOut, part});
  }
  given.push_back({1, kOut, "more\n"});
  const auto shown = gather(pod(3), {}, given, {50'000, directory.path()});
  EXPECT_TRUE(shown.out == "[0,2] (2)\n" + text + "[1] (1)\n" + text + "more\n");
  EXPECT_EQ(shown.err, "");
}

TEST(GatherSink, ShowsWhatItHadWhenTheDiskIsFull) {
  const std::vector<Given> given = {
      {0, kOut, "a\n"}, {1, kOut, "a\n"}, {2, kOut, "bcdefg\n"}, {0, kOut, "c\n"}};
  const auto shown = gather(pod(3), {}, given, {6, "/nonexistent"});
  EXPECT_EQ(shown.error, "a temporary file in /nonexistent: No such file or directory");
  EXPECT_EQ(shown.out, "[0,1] (2)\na\n");
  EXPECT_EQ(shown.err, "podrun: [0,2]: the output shown is cut short\n");
}

TEST(GatherSink, StopsWhenTheReaderHasLeft) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close_read();
  Terminal terminal(pipe.write_fd(), pipe.write_fd());
  const auto sink = make_gather_sink(pod(1), {}, {}, terminal);
  sink->line({0, kOut, std::string(1'000'000, 'x'), LineEnd::piece});
  sink->finish();
  EXPECT_TRUE(terminal.error(kOut));
}

}  // namespace
}  // namespace podrun::output
