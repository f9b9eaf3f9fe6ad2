// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/kept_log.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/fake_probe.hpp"
#include "support/temp_directory.hpp"
#include "unit/output/output_fixture.hpp"

namespace podrun::jobs {
namespace {

const std::string kPlace = "/home/me/.podrun/jobs/train/0-local/4";

TEST(KeptLog, ReadsWhatIsNoted) {
  const test::TempDirectory directory;
  note_hosts(directory.path(), {{.worker = 0, .name = "tpu-0"}, {.worker = 7, .name = "a b"}});
  FakeProbe probe;
  probe.variables["HOME"] = "/home/me";
  EXPECT_FALSE(find_kept_log(probe, "train", 4));
  probe.files[kPlace + "/hosts"] = directory.read("hosts");
  const auto log = find_kept_log(probe, "train", 4);
  ASSERT_TRUE(log);
  ASSERT_EQ(log->hosts.size(), 2U);
  EXPECT_EQ(log->hosts[1].worker, 7U);
  EXPECT_EQ(log->hosts[1].name, "a b");

  EXPECT_FALSE(words_of_kept_run(probe, *log));
  probe.files[kPlace + "/doing"] = "2 running · silent [7] 1 min\nrunning: [0] tpu-0\n[7] \x1b[2J\n";
  const auto words = words_of_kept_run(probe, *log);
  ASSERT_TRUE(words);
  EXPECT_EQ(words->line, (output::StatusText{{"2 running"}, {"silent [7] 1 min"}}));
  EXPECT_EQ(words->list, (std::vector<std::string>{"running: [0] tpu-0", "[7] \\x1b[2J"}));
}

class KeptLinesTest : public test::OutputTest {};

TEST_F(KeptLinesTest, AreThoseOfTheHostsOrOfPodrun) {
  read_both();
  output::Output& output = start(2);
  std::vector<hosts::Host> hosts = test::some_hosts(2);
  hosts[1].worker = 5;
  KeptLines lines(hosts, false);
  for (const char* const part : {"0: a", "b\n5! oops\n", "6: x\npodrun: try 2\n5: \x1b[1mc\n0: e", "nd"})
    lines.pass_on(StreamId::out, part, output);
  lines.end(output);
  EXPECT_EQ(out(), "0: ab\n1: \x1b[1mc\n0: end\n");
  EXPECT_EQ(err(), "1: oops\n6: x\npodrun: try 2\n");
}

TEST_F(KeptLinesTest, KeepTheirTimes) {
  read_both();
  output::Output& output = start(1);
  KeptLines lines(test::some_hosts(1), true);
  lines.pass_on(StreamId::out, "2026-11-28T04:05:26Z 0: a\n2026-11-28T04:05:26Z podrun: b\n", output);
  lines.end(output);
  EXPECT_EQ(out(), "0: 2026-11-28T04:05:26Z a\n");
  EXPECT_EQ(err(), "2026-11-28T04:05:26Z podrun: b\n");
}

}  // namespace
}  // namespace podrun::jobs
