// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/log_key/line_key.hpp"

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace podrun::output {
namespace {

std::string folded(std::string_view line) {
  return std::string(LineKey({}, 0, {.same = Same::numbers}).key(line));
}

TEST(FoldNumbers, TakesNumbersInAllForms) {
  const std::string_view lines[] = {"loss 2.31", "loss -0.5", "loss  1e-05", "loss 1,024", "loss 12:13"};
  for (const std::string_view line : lines) EXPECT_EQ(folded(line), "loss\n#") << line;
  EXPECT_EQ(folded("0.153s/step 10.77it/s"), "\n#s/step\n#it/s");
  EXPECT_EQ(folded("[4191] 7/100"), "[\n#]\n#/\n#");
}

TEST(FoldNumbers, LeavesNamesAndWords) {
  for (const std::string_view line : {"float32", "layer_3", "v2 nan", "tpu-x"}) EXPECT_EQ(folded(line), line);
  EXPECT_NE(folded("loss nan"), folded("loss 2.31"));
  EXPECT_EQ(folded("tpu-3"), "tpu-\n#") << "no sign";
}

TEST(FoldNumbers, TakesABarOfAnyLength) {
  EXPECT_EQ(folded(" 45%|####5     | 45/100"), folded("  7%|6         | 7/100"));
  EXPECT_EQ(folded("100%|██████████| 3/3"), folded("  0%|          | 0/3"));
}

/// Host number `rank` of eight, named gpu-RANK.
LineKey key_for(std::size_t rank, SameLines comparison = {.same = Same::log_line}) {
  hosts::Host host;
  host.worker = rank;
  host.name = "gpu-" + std::to_string(rank);
  LineKey key(host, rank, comparison, 8);
  key.add_names({"10.0.0." + std::to_string(rank)});
  return key;
}

std::string key_of(LineKey key, std::string_view line) { return std::string(key.key(line)); }
std::string plain_key_of(LineKey key, std::string_view line) { return std::string(key.keys(line).plain_key); }

// A prefix is read anew unless it has the form of the one before.
TEST(LineKey, DoesNotDependOnTheLinesBefore) {
  const std::vector<std::string> prefixes = {"",
                                             "2026-11-29 18:00:00,978 INFO ",
                                             "2026-11-29 19:12:01,123 INFO ",
                                             "2026-11-29 18:00:00,978 ",
                                             "2026-11-29 18:00:00 ",
                                             "2026-11-29 18:00:00,97 INFO ",
                                             "[2026-11-29 18:00:00,978][train.py:42][INFO] - ",
                                             "[2026-11-29 18:00:05,120][train.py:43][INFO] - ",
                                             "I1129 18:00:00.978123  4191 train.py:42] ",
                                             "I1129 18:00:01.978124 14191 train.py:42] ",
                                             "W1129 18:00:01.978124 14191 train.py:42] ",
                                             "[12:00:01] ",
                                             "[12:00:01.123] ",
                                             "12:00:01 | INFO | ",
                                             "[4191] ",
                                             "4191 INFO ",
                                             "Nov 29 18:00:00 gpu-3 sshd[4191]: ",
                                             "Nov 29 18:00:00 gpu-4 sshd[4191]: ",
                                             "[rank3]: ",
                                             "[rank3]:[W1129 18:00:00.978123 4191 x.cpp:1] "};
  const std::vector<std::string> messages = {"step 5 loss 2.31",
                                             "step 15 loss 2.31",
                                             "[rank3]: failed",
                                             "[4191] up",
                                             "UTC up",
                                             "",
                                             "[train.py:42] up",
                                             "INFO up",
                                             "- 3 - up",
                                             "pid 4191 up",
                                             "0.0 GB used",
                                             "1.0 GB used",
                                             "gpu-3 listens (1)",
                                             "(main, pid=4191) x"};
  std::vector<std::string> lines;
  for (const std::string& prefix : prefixes) {
    for (const std::string& message : messages) lines.push_back(prefix + message);
  }
  for (const Same same : {Same::log_line, Same::numbers}) {
    LineKey key = key_for(3, {.same = same});
    std::minstd_rand random(1);
    std::size_t line = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::size_t before = line;
      // Often the same form again.
      line = random() % 2 == 0 ? random() % lines.size()
                               : (line / messages.size()) * messages.size() + random() % messages.size();
      const LineKeys keys = key.keys(lines[line]);
      LineKey fresh = key_for(3, {.same = same});
      const LineKeys alone = fresh.keys(lines[line]);
      ASSERT_EQ(keys.key, alone.key) << lines[line] << "\nafter " << lines[before];
      ASSERT_EQ(keys.process, alone.process) << lines[line] << "\nafter " << lines[before];
    }
  }
}

TEST(FoldNumbers, FoldsThemBehindColors) {
  EXPECT_EQ(folded("step=\x1b[35m107\x1b[0m"), folded("step=\x1b[35m9\x1b[0m"));
  EXPECT_EQ(folded("\x1b[36mloss\x1b[0m=\x1b[35m2.31\x1b[0m"), "\x1b[36mloss\x1b[0m=\x1b[35m\n#\x1b[0m");
}

TEST(FoldNumbers, KeepsCodesAndRanks) {
  for (const std::string_view line :
       {"exit 1", "exitcode: -9", "exit code 137", "exitcode  : 1", "status=2", "signal 9", "lost rank 6",
        "(exitcode: -15)", "return code = -9", "\x1b[3mcode\x1b[0m=\x1b[1m3"})
    EXPECT_EQ(folded(line), line);
  EXPECT_EQ(folded("status 0.31"), "status\n#");
}

TEST(FoldNumbers, FoldsNumbersInGluedRanks) { EXPECT_EQ(folded("[TP0] x"), "[TP\n#] x"); }

TEST(LineKey, HasAPlainKeyWithOwnNames) {
  // What all hosts print, byte for byte, is equal by the plain key; what names each host, by the other.
  for (const std::string_view line :
       {"nodes: gpu-0 gpu-1 gpu-2", "coordinator is gpu-1:8476", "only rank 1 writes", "peer 10.0.0.1:29500",
        "2026-11-22 08:00:00 rank 1 is gone"}) {
    EXPECT_EQ(plain_key_of(key_for(1), line), plain_key_of(key_for(2), line)) << line;
    EXPECT_NE(key_of(key_for(1), line), key_of(key_for(2), line)) << line;
  }
  EXPECT_EQ(key_of(key_for(1), "I am gpu-1"), key_of(key_for(2), "I am gpu-2"));
  EXPECT_NE(plain_key_of(key_for(1), "I am gpu-1"), plain_key_of(key_for(2), "I am gpu-2"));
}

TEST(LineKey, HasAPlainKeyForNumbersToo) {
  const SameLines numbers{.same = Same::numbers};
  for (const std::string_view line :
       {"nodes: gpu-0 gpu-1 gpu-2", "coordinator is gpu-1:8476", "at 10.0.0.1:29500, 7"})
    EXPECT_EQ(plain_key_of(key_for(1, numbers), line), plain_key_of(key_for(2, numbers), line)) << line;
}

TEST(LineKey, LearnsNamesLater) {
  LineKey key = key_for(1);
  EXPECT_EQ(key.key("on t1v-n-1-w-1 (10.1.1.1)"), "on t1v-n-1-w-1 (10.1.1.1)");
  key.add_names({"t1v-n-1-w-1.internal", "10.1.1.1"});
  EXPECT_EQ(key.key("on t1v-n-1-w-1 (10.1.1.1)"), "on \nn (\ni)");
}

struct Process {
  std::string_view line;
  std::string_view process;
};

TEST(LineKey, NamesTheProcessThatPrints) {
  LineKey key = key_for(1);
  for (const Process& of : std::initializer_list<Process>{
           {"[rank29]: Traceback", "[rank29]"},
           {"[default5]:[rank13]: Traceback", "[default5]:[rank13]"},
           {"[trainer0|0]:INFO:up", "[trainer0|0]"},
           {"(EngineCore_DP0 pid=4000) (Worker_TP3 pid=7) INFO 11-22 08:28:10 [a.py:1] up",
            "(EngineCore_DP0 pid=4000) (Worker_TP3 pid=7)"},
           {"gpu-1:123:456 [5] NCCL INFO up", "gpu-1:123"},
           {"[2026-11-22 08:28:10 DP1 TP3] up", "DP1 TP3"},
           {"11/22/2026 08:28:10 [INFO|DP=1|PP=0]: up", "DP=1|PP=0"},
           {"[2026-11-22 08:28:10,123] [INFO] [a:1] [PID:5] [RANK:8] up", "[RANK:8]"},
           {"[E1122 08:28:10.5 a.cpp:616] [Rank 8] up", "[Rank 8]"},
           {"2026-11-22 08:28:10 INFO up", ""},
           {"0: step 7", ""},
           {"[8] step 7", ""}}) {
    EXPECT_TRUE(key.keys(of.line).process.starts_with(of.process))
        << of.line << ": " << key.keys(of.line).process;
    EXPECT_EQ(key.keys(of.line).process.empty(), of.process.empty()) << of.line;
  }
  for (const std::string_view line : {"[rank29]: x", "(Actor pid=7) x", "gpu-1:1:2 [5] NCCL INFO x"})
    EXPECT_EQ(LineKey(key).process(line), key.keys(line).process) << line;
}

TEST(LineKey, FoldsRanksOfProcessesUnlessTheyCountWithinTheHost) {
  EXPECT_EQ(key_of(key_for(1), "[rank9]: x"), key_of(key_for(7), "[rank58]: x"));
  // `--role rank --tee 3` numbers the processes of each host from 0.
  LineKey fifth = key_for(5);
  EXPECT_EQ(fifth.key("[rank0]: x"), "[rank0]: x");
  EXPECT_EQ(fifth.key("[rank5]: x"), "[rank5]: x");
  EXPECT_EQ(plain_key_of(key_for(0), "[rank5]: x"), "[rank5]: x") << "host 0 cannot know";
}

TEST(LineKey, TakesARankForOneOfTheHostUntilItIsNot) {
  LineKey key = key_for(1);
  EXPECT_EQ(key.key("shard up rank=1"), "shard up rank=\nr");
  EXPECT_EQ(key.key("shard up rank=3"), "shard up rank=3");
  EXPECT_EQ(key.key("shard up rank=1"), "shard up rank=1");
  EXPECT_EQ(key.key("2026-11-22 08:00:00 shard failed rank=1"), "\nt shard failed rank=1");
  EXPECT_EQ(key.key("ready: rank 1"), "ready: rank \nr") << "another word";
  LineKey other = key_for(1);
  other.key("2026-11-22 08:00:00 lost rank 3");
  EXPECT_EQ(other.key("rank 1 is up"), "rank \nr is up") << "another line";
  other.key("shard up rank=3");
  EXPECT_EQ(other.key("shard up rank=1"), "shard up rank=1") << "its own number came second";
}

TEST(LineKey, TellsThePlacesOfFields) {
  LineKey key = key_for(1);
  const std::string_view line = "2026-11-22 08:00:00 gpu-1 step 7 at 1.18 s/it";
  const std::vector<LogField> want = {
      {0, 19, LogField::time}, {20, 25, LogField::name}, {36, 40, LogField::measure}};
  const auto fields = key.keys(line).fields;
  EXPECT_EQ(std::vector<LogField>(fields.begin(), fields.end()), want);
  LineKey numbers = key_for(1, {.same = Same::numbers});
  const auto all = numbers.keys("loss -0.5, 12.5 it/s").fields;
  EXPECT_EQ(std::vector<LogField>(all.begin(), all.end()),
            (std::vector<LogField>{{5, 9, LogField::number}, {11, 15, LogField::number}}));
}

TEST(LineKey, ReadsFieldsBeforeItIgnores) {
  const SameLines comparison{.same = Same::log_line, .ignored = {Regex("rank[0-9]+")}};
  const std::string three = key_of(key_for(3, comparison), "[rank24]:[E1122 08:28:10.5 a.cpp:616] timed out");
  EXPECT_EQ(three, key_of(key_for(1, comparison), "[rank8]:[E1122 08:28:11.7 a.cpp:616] timed out"));
  EXPECT_EQ(three, "[\n-]:[E\nt a.cpp:616] timed out");
}

TEST(LineKey, LetsFieldsAndWhatIsIgnoredOverlap) {
  const auto key_with = [](const char* ignored, std::string_view line) {
    return key_of(key_for(1, {.same = Same::log_line, .ignored = {Regex(ignored)}}), line);
  };
  EXPECT_EQ(key_with("08:00", "2026-11-22 08:00:00 up"), "\nt up");
  EXPECT_EQ(key_with("00 up", "2026-11-22 08:00:00 up, all"), "\n-, all");
  EXPECT_EQ(key_with("gpu-[0-9]+", "on gpu-1 and gpu-2"), "on \n- and \n-");
  EXPECT_EQ(key_with("took.*", "it took 3.2 s, rank 1"), "it \n-");
}

TEST(LineKey, ComparesAsAsked) {
  hosts::Host host;
  host.name = "tpu-3";
  LineKey bytes(host, 3, {});
  LineKey log(host, 3, {.same = Same::log_line});
  LineKey numbers(host, 3, {.same = Same::numbers});
  const std::string line = "2026-11-22 08:00:00 [4191] loss 2.31";
  EXPECT_EQ(bytes.key(line), line);
  EXPECT_EQ(log.key(line), "\nt [\np] loss 2.31");
  EXPECT_EQ(numbers.key(line), "\nt [\np] loss\n#");
}

TEST(LineKey, LeavesOutWhatIsIgnored) {
  hosts::Host host;
  LineKey key(host, 0, {.ignored = {Regex("loss [0-9.]+"), Regex("[0-9]+ ms")}});
  EXPECT_EQ(key.key("step 7 loss 2.31 in 15 ms"), "step 7 \n- in \n-");
  EXPECT_EQ(key.key("step 7"), "step 7");
}

}  // namespace
}  // namespace podrun::output
