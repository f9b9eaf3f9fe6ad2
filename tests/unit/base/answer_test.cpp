// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/answer.hpp"

#include <gmock/gmock.h>

namespace podrun {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

/// As the build makes it of a script's head.
struct TestAnswer {
  struct Job {
    std::uint64_t pid{};
    std::string place{};
    std::string name{};
    std::string state{};

    bool read(AnswerLine& line) { return line.pid(pid) && line.word(place) && line.text(name); }
    bool take(AnswerLine& line) { return line.key() == "state" && line.text(state); }
  };
  static constexpr std::string_view kBegin = "podrun-test";
  bool has_begun = false;
  bool is_complete = false;
  std::string boot{};
  std::optional<std::uint64_t> uid{};
  std::optional<std::uint64_t> memory{};
  std::optional<std::chrono::seconds> age{};
  std::vector<std::uint64_t> kept{};
  std::vector<std::string> devices{};
  std::vector<std::string> marks{};
  std::vector<Job> jobs{};
  std::map<std::string, std::string, std::less<>> values{};

  bool take(AnswerLine& line) {
    if (line.key() == "boot") return line.text(boot);
    if (line.key() == "uid") return line.maybe(uid, &AnswerLine::number);
    if (line.key() == "memory") return line.maybe(memory, &AnswerLine::kib);
    if (line.key() == "age") return line.maybe(age, &AnswerLine::seconds);
    if (line.key() == "kept") return line.numbers(kept);
    if (line.key() == "device") return line.add(devices, &AnswerLine::text);
    if (line.key() == "mark") return line.add_once(marks, &AnswerLine::text);
    if (line.key() == "job") return line.add_once(jobs, &Job::pid);
    if (line.put(values, {"jax", "torch"})) return true;
    Job* const its = line.find(jobs, &Job::pid, &AnswerLine::pid);
    return its && its->take(line);
  }
};

TestAnswer parse(const std::string& lines) {
  return read_answer<TestAnswer>("podrun-test n\n" + lines + "end\n", "n");
}

TEST(Answer, BeginsAfterTheNonce) {
  const std::string noise = "boot motd\npodrun-test m\nboot other\n podrun-test n\npodrun-test n \n";
  const auto answer = read_answer<TestAnswer>(noise + "podrun-test n\nuid 7\nend\n", "n");
  EXPECT_TRUE(answer.has_begun && answer.is_complete);
  EXPECT_EQ(answer.boot, "");
  EXPECT_EQ(answer.uid, 7U);
  EXPECT_FALSE(read_answer<TestAnswer>(noise + "end\n", "n").has_begun);
}

TEST(Answer, EndsAtItsEnd) {
  EXPECT_EQ(read_answer<TestAnswer>("podrun-test n\nuid 7\nend\nuid 8\n", "n").uid, 7U);
  for (const char* cut : {"", "en", "end of it\n", "end \n"}) {
    const auto answer = read_answer<TestAnswer>(std::string("podrun-test n\nuid 7\n") + cut, "n");
    EXPECT_TRUE(answer.has_begun && !answer.is_complete) << cut;
    EXPECT_EQ(answer.uid, 7U);
  }
  EXPECT_FALSE(read_answer<TestAnswer>("", "n").has_begun);
}

TEST(Answer, ReadsSingleValues) {
  const TestAnswer answer = parse("boot a b \nuid 0\nmemory 3\nage 90\nkept 10 x 3\n");
  EXPECT_EQ(answer.boot, "a b ");
  EXPECT_EQ(answer.uid, 0U);
  EXPECT_EQ(answer.memory, 3072U);
  EXPECT_EQ(answer.age, 90s);
  EXPECT_THAT(answer.kept, ElementsAre(10, 3));
}

TEST(Answer, KeepsTheLastSoundValue) {
  EXPECT_EQ(parse("uid 1\nuid 2\n").uid, 2U);
  for (const char* broken : {"", "x", "-1", "1 2", "99999999999999999999", " 1", "0x1"})
    EXPECT_EQ(parse(std::string("uid 7\nuid ") + broken + '\n').uid, 7U) << broken;
  EXPECT_EQ(parse("memory 18446744073709551615\n").memory, std::nullopt) << "too many bytes";
  EXPECT_EQ(parse("age 99999999999999\n").age, std::nullopt);
}

TEST(Answer, IgnoresUnknownLines) {
  const TestAnswer answer = parse("\n \ncolor blue\nBOOT x\nboot\tx\n\x1b[2J\nuid\n");
  EXPECT_TRUE(answer.is_complete);
  EXPECT_EQ(answer.boot, "");
  EXPECT_EQ(answer.uid, std::nullopt);
}

TEST(Answer, KeepsTextsByTheirKeys) {
  EXPECT_THAT(parse("jax 1\njax 2\ntorch\ntorch \nnumpy 3\n").values, ElementsAre(Pair("jax", "2")));
}

TEST(Answer, ReadsEntriesAndTheLinesAboutThem) {
  const TestAnswer answer =
      parse("state 1 early\njob 1 here my job\njob 2 there\njob 1 again x\nstate 2 runs on\nstate 3 none\n");
  ASSERT_THAT(answer.jobs, SizeIs(2));
  EXPECT_EQ(answer.jobs[0].place + "|" + answer.jobs[0].name + "|" + answer.jobs[0].state, "here|my job|");
  EXPECT_EQ(answer.jobs[1].place + "|" + answer.jobs[1].name + "|" + answer.jobs[1].state, "there||runs on");
}

TEST(Answer, LeavesBrokenEntriesOut) {
  EXPECT_THAT(parse("job\njob x a\njob 0 a\njob -1 a\njob 4294967296 a\n").jobs, IsEmpty());
  AnswerLine line("key DD x");
  char letter = '?';
  EXPECT_FALSE(line.letter(letter));
  EXPECT_TRUE(line.letter(letter));
  EXPECT_EQ(letter, 'x');
}

TEST(Answer, HasEqualValuesOnceWhereItSaysSo) {
  EXPECT_THAT(parse("device a\ndevice a\nmark b\nmark c\nmark b\n").devices, ElementsAre("a", "a"));
  EXPECT_THAT(parse("device a\ndevice a\nmark b\nmark c\nmark b\n").marks, ElementsAre("b", "c"));
}

TEST(Answer, HasLimits) {
  const std::string long_text(5000, 'x');
  std::string lines = "boot " + long_text + "\njax " + long_text + "\nkept";
  for (int pid = 1; pid < 5000; ++pid) lines += " " + std::to_string(pid);
  lines += '\n';
  for (int pid = 1; pid < 5000; ++pid)
    lines += "job " + std::to_string(pid) + " " + long_text + " " + long_text + "\ndevice x\n";
  const TestAnswer answer = parse(lines);
  EXPECT_TRUE(answer.is_complete);
  EXPECT_THAT(answer.boot, SizeIs(kMostOfText));
  EXPECT_THAT(answer.values.at("jax"), SizeIs(kMostOfText));
  EXPECT_THAT(answer.kept, SizeIs(kMostEntries));
  EXPECT_THAT(answer.devices, SizeIs(kMostEntries));
  ASSERT_THAT(answer.jobs, SizeIs(kMostEntries));
  EXPECT_THAT(answer.jobs.back().place, SizeIs(kMostOfText));
  EXPECT_THAT(answer.jobs.back().name, SizeIs(kMostOfText));
}

}  // namespace
}  // namespace podrun
