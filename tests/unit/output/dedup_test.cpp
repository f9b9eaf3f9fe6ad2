// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/dedup.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/worker_numbers.hpp"

namespace podrun::output {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using Hosts = std::vector<std::size_t>;
using Texts = std::vector<std::string>;

Hosts hosts_from_to(std::size_t first, std::size_t last) {
  Hosts hosts;
  for (std::size_t host = first; host <= last; ++host) hosts.push_back(host);
  return hosts;
}

/// Hosts that talk, a clock, and what a reader would see.
class Talk {
 public:
  explicit Talk(std::size_t hosts, const DedupLimits& limits = {})
      : dedup_(hosts, limits, [this](const DedupedLine& line) { show(line); }), late_(hosts) {}

  void say(std::size_t host, const std::string& text, LineEnd end = LineEnd::newline) {
    dedup_.line(now_, host, {text, end}, {.key = text});
  }
  void say(const Hosts& hosts, const std::string& text) {
    for (const std::size_t host : hosts) say(host, text);
  }
  void say_keyed(std::size_t host, const std::string& text, const DedupKey& key) {
    dedup_.line(now_, host, {text}, key);
  }
  std::size_t add_process(std::size_t host) { return dedup_.add_process(host); }
  /// All that a host has to say at once, as a chunk of its output brings it.
  void say_all(std::size_t host, const Texts& texts) {
    for (const std::string& text : texts) say(host, text);
  }
  void end(std::size_t host) { dedup_.host_ended(host); }
  void finish() { dedup_.finish(); }
  void wait(std::chrono::milliseconds time) { dedup_.tick(now_ += time); }

  /// The lines that were shown since the last call.
  Texts shown() { return std::exchange(shown_, {}); }
  struct LateLines {
    std::size_t lines = 0;
    Dedup::Clock::duration lag{};
  };
  const LateLines& late(std::size_t host) const { return late_[host]; }
  const Dedup& dedup() const { return dedup_; }
  Dedup::TimePoint now() const { return now_; }

 private:
  void show(const DedupedLine& line) {
    if (line.late) {
      for (const std::size_t host : line.hosts)
        late_[host] = {late_[host].lines + 1, std::max(late_[host].lag, *line.late)};
      return;
    }
    const std::string label = "[" + fold_workers({line.hosts.begin(), line.hosts.end()}) + "]";
    shown_.push_back(label + ": " + std::string(line.text));
    for (const DedupText& other : line.texts)
      shown_.back() += fmt::format(" | {}: {}", other.host, other.text);
  }

  Dedup dedup_;
  Dedup::TimePoint now_{1h};
  Texts shown_;
  std::vector<LateLines> late_;
};

TEST(Dedup, ShowsALineOnceAsSoonAsEveryHostHasSaidIt) {
  Talk talk(3);
  talk.say({0, 2}, "step 1");
  EXPECT_THAT(talk.shown(), IsEmpty());
  talk.say(1, "step 1");
  EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: step 1"));
}

TEST(Dedup, TellsADifferingHostApart) {
  Talk talk(64);
  talk.say(hosts_from_to(0, 62), "step 100 loss 2.31");
  talk.say(63, "step 100 loss nan");
  talk.say(hosts_from_to(0, 63), "step 101");
  EXPECT_THAT(talk.shown(),
              ElementsAre("[0-62]: step 100 loss 2.31", "[63]: step 100 loss nan", "[0-63]: step 101"));
}

TEST(Dedup, ShowsALineOfSomeHostsWhenItsWindowIsOver) {
  Talk talk(4);
  talk.say({0, 1}, "a");
  talk.wait(499ms);
  talk.say(2, "a");
  EXPECT_THAT(talk.shown(), IsEmpty());
  EXPECT_EQ(talk.dedup().next_tick(), talk.now() + 1ms);
  talk.wait(1ms);
  EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: a"));
  EXPECT_EQ(talk.dedup().next_tick(), Dedup::TimePoint::max());
}

TEST(Dedup, AnExtraLineDisturbsNobody) {
  Talk talk(3);
  talk.say_all(0, {"step 1", "step 2", "step 3"});
  talk.say_all(1, {"step 1", "note", "step 2", "step 3"});
  talk.say_all(2, {"step 1", "step 2", "step 3"});
  EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: step 1", "[1]: note", "[0-2]: step 2", "[0-2]: step 3"));
}

TEST(Dedup, AMissingLineDisturbsNobody) {
  Talk talk(3);
  talk.say_all(0, {"step 1", "step 2", "step 3"});
  talk.say_all(1, {"step 1", "step 3"});
  talk.say_all(2, {"step 1", "step 2", "step 3"});
  EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: step 1", "[0,2]: step 2", "[0-2]: step 3"));
}

// `hostname; cat /etc/os-release`: with each host's own line in the order of arrival, the first host's
// os-release would be before the second host's name, and nothing that follows could be shown once.
TEST(Dedup, ALineOfItsOwnOnEveryHostDisturbsNobody) {
  Talk talk(4);
  for (std::size_t host = 0; host < 4; ++host) {
    talk.say_all(host, {"tpu-" + std::to_string(host), "Debian", "12"});
  }
  EXPECT_THAT(talk.shown(), ElementsAre("[0]: tpu-0", "[1]: tpu-1", "[2]: tpu-2", "[3]: tpu-3",
                                        "[0-3]: Debian", "[0-3]: 12"));
}

// Traceback and its first frame are those of all.
TEST(Dedup, WhatAHostPrintsAtOnceBeforeItsEndStaysTogether) {
  for (const auto pause : {0ms, 100ms}) {
    Talk talk(3);
    for (const std::size_t host : {0U, 1U}) talk.say_all(host, {"head", "frame", "theirs", "their error"});
    talk.wait(pause);
    talk.say_all(2, {"head", "frame", "mine", "my error"});
    talk.end(2);
    talk.finish();
    EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: head", "[0-2]: frame", "[2]: mine", "[2]: my error",
                                          "[0,1]: theirs", "[0,1]: their error"));
  }
}

TEST(Dedup, AnExtraBlockOfLinesThatRepeatDisturbsNobody) {
  const Texts usual = {"{", "a", "}", "{", "b", "}", "{", "c", "}"};
  Talk talk(3);
  talk.say_all(0, usual);
  talk.say_all(1, {"{", "x", "}", "{", "a", "}", "{", "b", "}", "{", "c", "}"});
  talk.say_all(2, usual);
  talk.finish();
  const Texts shown = talk.shown();
  for (const char* const line : {"[0-2]: a", "[0-2]: b", "[0-2]: c"}) {
    EXPECT_THAT(shown, testing::Contains(line));
  }
  EXPECT_EQ(shown.size(), usual.size() + 3);
}

TEST(Dedup, ABlankLineTooManyDoesNotShiftWhatFollows) {
  Talk talk(3);
  talk.say_all(0, {"", "a", "", "b", "", "c"});
  talk.say_all(1, {"", "a", "", "b", "", "c"});
  talk.say_all(2, {"", "", "a", "", "b", "", "c"});
  EXPECT_THAT(talk.shown(),
              ElementsAre("[0-2]: ", "[2]: ", "[0-2]: a", "[0-2]: ", "[0-2]: b", "[0-2]: ", "[0-2]: c"));
}

// Hosts 1 and 2 have said "x" after everything that the others have said so far; it has to move before that.
TEST(Dedup, LinesOfAFewHostsDoNotKeepThemApart) {
  Talk talk(4);
  for (const std::size_t host : {0U, 3U}) talk.say_all(host, {"a", "b", "c", "d"});
  for (const char* const text : {"a", "x", "b", "c", "d"}) talk.say({1, 2}, text);
  EXPECT_THAT(talk.shown(), ElementsAre("[0-3]: a", "[1,2]: x", "[0-3]: b", "[0-3]: c", "[0-3]: d"));
}

TEST(Dedup, NeverCollapsesAHostAgainstItself) {
  Talk talk(2);
  talk.say_all(0, {"retry", "retry", "retry"});
  talk.say_all(1, {"retry", "retry"});
  talk.wait(500ms);
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: retry", "[0,1]: retry", "[0]: retry"));
  talk.say(0, "retry");
  talk.wait(500ms);
  EXPECT_THAT(talk.shown(), ElementsAre("[0]: retry"));
}

TEST(Dedup, NeverReordersTheLinesOfAHost) {
  Talk talk(2);
  talk.say_all(0, {"a", "b"});
  talk.say_all(1, {"b", "a"});
  talk.finish();
  EXPECT_THAT(talk.shown(), ElementsAre("[0]: a", "[0,1]: b", "[1]: a"));
}

TEST(Dedup, ALineWithoutNewlineIsAnotherLine) {
  Talk talk(2);
  talk.say(0, "x");
  talk.say(1, "x", LineEnd::end_of_stream);
  talk.finish();
  EXPECT_THAT(talk.shown(), ElementsAre("[0]: x", "[1]: x"));
}

TEST(Dedup, ComparesKeysAndShowsTheFirstText) {
  Talk talk(3);
  talk.say_keyed(1, "10:00:01 up", {.key = "up"});
  talk.say_keyed(0, "10:00:02 up", {.key = "up"});
  talk.say_keyed(2, "10:00:03 up", {.key = "up"});
  EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: 10:00:01 up"));
}

TEST(Dedup, ASilentHostDelaysNoOtherLongerThanTheWindow) {
  Talk talk(3);
  for (const char* const text : {"a", "b"}) {
    talk.say({0, 1}, text);
    talk.wait(500ms);
    EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: " + std::string(text)));
  }
}

TEST(Dedup, AHostThatIsLateIsCounted) {
  Talk talk(3);
  for (int step = 0; step < 20; ++step) {
    talk.say({0, 1}, "step " + std::to_string(step));
    if (step >= 3) talk.say(2, "step " + std::to_string(step - 3));
    talk.wait(1s);
    EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: step " + std::to_string(step)));
  }
  EXPECT_EQ(talk.late(2).lines, 17U);
  EXPECT_EQ(talk.late(2).lag, 2s);  // from when it was shown
  EXPECT_EQ(talk.late(0).lines, 0U);
}

TEST(Dedup, ALateHostStaysCountedAfterALineOfItsOwn) {
  Talk talk(3);
  talk.say({0, 1}, "a");
  talk.say({0, 1}, "b");
  talk.wait(3s);
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: a", "[0,1]: b"));
  talk.say(2, "mine");
  talk.wait(100ms);
  talk.say(2, "a");
  talk.wait(500ms);
  EXPECT_THAT(talk.shown(), ElementsAre("[2]: mine"));
  talk.say(2, "b");
  talk.finish();
  EXPECT_THAT(talk.shown(), IsEmpty());
  EXPECT_EQ(talk.late(2).lines, 2U);
}

TEST(Dedup, LateHostsStayCountedAfterALineThatTheyShare) {
  Talk talk(4);
  talk.say({0, 1}, "a");
  talk.say({0, 1}, "b");
  talk.wait(3s);
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: a", "[0,1]: b"));
  talk.say({2, 3}, "ours");
  talk.wait(100ms);
  talk.say({2, 3}, "a");
  talk.wait(500ms);
  EXPECT_THAT(talk.shown(), ElementsAre("[2,3]: ours"));
  talk.say({2, 3}, "b");
  talk.finish();
  EXPECT_THAT(talk.shown(), IsEmpty());
  EXPECT_EQ(talk.late(2).lines, 2U);
  EXPECT_EQ(talk.late(3).lines, 2U);
}

TEST(Dedup, ALateLineIsCountedInAnyOrder) {
  Talk talk(4);
  talk.say_all(0, {"a", "b"});
  talk.say_all(1, {"a", "b"});
  talk.wait(500ms);
  talk.say_all(2, {"b", "a", "a"});
  talk.finish();
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: a", "[0,1]: b", "[2]: a"));
  EXPECT_EQ(talk.late(2).lines, 2U);
}

TEST(Dedup, LinesThatRepeatAreLateToo) {
  Talk talk(6);
  for (std::size_t host = 0; host < 5; ++host) {
    talk.say_all(host, {"", "a"});
    if (host < 2) talk.say(host, "ours");
    talk.say_all(host, {"", "b", ""});
  }
  talk.wait(500ms);
  EXPECT_THAT(talk.shown(),
              ElementsAre("[0-4]: ", "[0-4]: a", "[0,1]: ours", "[0-4]: ", "[0-4]: b", "[0-4]: "));
  talk.say_all(5, {"", "a", "", "b", ""});
  talk.finish();
  EXPECT_THAT(talk.shown(), IsEmpty());
  EXPECT_EQ(talk.late(5).lines, 5U);
}

TEST(Dedup, ABlankLineTooManyOfALateHostDoesNotShiftWhatFollows) {
  Talk talk(3);
  for (const std::size_t host : {0U, 1U}) talk.say_all(host, {"", "a", "", "b", "", "c"});
  talk.wait(500ms);
  EXPECT_EQ(talk.shown().size(), 6U);
  talk.say_all(2, {"", "", "a", "", "b", "", "c"});
  talk.finish();
  EXPECT_THAT(talk.shown(), ElementsAre("[2]: "));
  EXPECT_EQ(talk.late(2).lines, 6U);
}

const Texts kTheirTraceback = {"Traceback", "File main.py", "main()", "File train.py, line 10",
                               "step()",    "RuntimeError"};
const Texts kOwnTraceback = {"Traceback", "File main.py", "main()", "File train.py, line 88",
                             "step()",    "ValueError"};

Texts of_host(std::size_t host, const Texts& texts) {
  Texts labelled;
  for (const std::string& text : texts) labelled.push_back(fmt::format("[{}]: {}", host, text));
  return labelled;
}

TEST(Dedup, ShowsAllOfATracebackThatBeginsAsThoseOfOthersDid) {
  for (const bool have_ended : {false, true}) {
    Talk talk(8);
    talk.say(hosts_from_to(0, 7), "step 1");
    for (std::size_t host = 0; host < 7; ++host) talk.say_all(host, kTheirTraceback);
    talk.wait(2s);
    talk.shown();
    for (std::size_t host = 0; host < 7 && have_ended; ++host) talk.end(host);
    talk.say_all(7, kOwnTraceback);
    talk.wait(500ms);
    EXPECT_EQ(talk.shown(), of_host(7, kOwnTraceback)) << have_ended;
    EXPECT_EQ(talk.late(7).lines, 0U);
  }
}

TEST(Dedup, ShowsAllOfATracebackThatEndsAsThoseOfOthersDid) {
  Texts traceback = kTheirTraceback;
  traceback[3] = "File train.py, line 88";
  for (const auto pause : {0ms, 3ms}) {
    Talk talk(8);
    for (std::size_t host = 0; host < 7; ++host) talk.say_all(host, kTheirTraceback);
    talk.wait(2s);
    talk.shown();
    for (const std::string& text : traceback) {
      talk.say(7, text);
      talk.wait(pause);
    }
    talk.wait(500ms);
    EXPECT_EQ(talk.shown(), of_host(7, traceback)) << pause.count();
  }
}

TEST(Dedup, ALateHostThatOvertakesTheOthersHasNoLineTwice) {
  Talk talk(4);
  talk.say({0, 1}, "step 5");
  talk.wait(600ms);
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: step 5"));
  for (const std::size_t host : {2U, 3U}) talk.say_all(host, {"step 5", "step 6", "step 7"});
  talk.wait(100ms);
  talk.say({0, 1}, "step 6");
  talk.say({0, 1}, "step 7");
  talk.wait(500ms);
  EXPECT_THAT(talk.shown(), ElementsAre("[0-3]: step 6", "[0-3]: step 7"));
  EXPECT_EQ(talk.late(2).lines, 1U);
}

TEST(Dedup, LateHostsHoldTheirLinesTogether) {
  Talk talk(200);
  std::size_t most = 0;
  for (int step = 0; step < 20; ++step) {
    const std::string text = fmt::format("step {}", step);
    talk.say({0, 1}, text);
    talk.wait(600ms);
    talk.say(hosts_from_to(2, 199), text);
    most = std::max(most, talk.dedup().bytes());
  }
  talk.finish();
  EXPECT_EQ(talk.shown().size(), 20U);
  EXPECT_EQ(talk.late(100).lines, 20U);
  EXPECT_LT(most, 20'000U) << "not one line for each host";
}

TEST(Dedup, ShowsTheCommonTracebackOfTheOthersInFull) {
  Talk talk(8);
  talk.say_all(3, kOwnTraceback);
  talk.wait(2s);
  EXPECT_EQ(talk.shown(), of_host(3, kOwnTraceback));
  talk.end(3);
  for (const std::size_t host : {0U, 1U, 2U, 4U, 5U, 6U, 7U}) talk.say_all(host, kTheirTraceback);
  talk.wait(500ms);
  Texts expected;
  for (const std::string& text : kTheirTraceback) expected.push_back("[0-2,4-7]: " + text);
  EXPECT_EQ(talk.shown(), expected);
}

TEST(Dedup, ALineThatAHostLeavesOutDoesNotShiftIt) {
  Talk talk(8);
  for (int step = 1; step <= 8; ++step) {
    for (std::size_t host = 0; host < 8; ++host) {
      const std::size_t turn = (host + static_cast<std::size_t>(step)) % 8;
      talk.say(turn, turn == 4 && step == 3 ? "failed" : "ok");
    }
    talk.wait(900ms);
    if (step == 3) {
      EXPECT_THAT(talk.shown(), testing::UnorderedElementsAre("[4]: failed", "[0-3,5-7]: ok"));
    } else {
      EXPECT_THAT(talk.shown(), ElementsAre("[0-7]: ok")) << step;
    }
  }
  for (std::size_t host = 0; host < 8; ++host) EXPECT_EQ(talk.late(host).lines, 0U);
}

TEST(Dedup, ALineTooManyOfAHostDoesNotShiftTheOthers) {
  Talk talk(8);
  for (int step = 1; step <= 7; ++step) {
    for (std::size_t host = 0; host < 8; ++host) {
      const std::size_t turn = (host + static_cast<std::size_t>(step)) % 8;
      talk.say(turn, "ok");
      if (turn == 4 && step == 3) talk.say(turn, "ok");
    }
    talk.wait(900ms);
    if (step == 3) {
      EXPECT_THAT(talk.shown(), ElementsAre("[0-7]: ok", "[4]: ok"));
    } else {
      EXPECT_THAT(talk.shown(), ElementsAre("[0-7]: ok")) << step;
    }
  }
  for (std::size_t host = 0; host < 8; ++host) EXPECT_EQ(talk.late(host).lines, 0U);
}

TEST(Dedup, AHostThatIsTooLateIsShown) {
  Talk talk(3, {.window = 500ms, .late = 10s});
  talk.say({0, 1}, "a");
  talk.say({0, 1}, "b");
  talk.wait(500ms);
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: a", "[0,1]: b"));
  talk.wait(10s);
  talk.say(2, "a");
  talk.wait(500ms);
  EXPECT_EQ(talk.late(2).lines, 1U);
  talk.say(2, "b");
  talk.finish();
  EXPECT_THAT(talk.shown(), ElementsAre("[2]: b"));
}

TEST(Dedup, AnEndedHostDelaysNoOther) {
  Talk talk(3);
  talk.say({0, 1}, "a");
  talk.end(2);
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: a"));
  talk.say({0, 1}, "b");
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: b"));
}

TEST(Dedup, LinesOfAHostThatHasEndedAreStillJoined) {
  Talk talk(3);
  talk.say(0, "a");
  talk.end(0);
  talk.say({1, 2}, "a");
  EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: a"));
}

TEST(Dedup, TheLastRunningHostWaitsForNoOther) {
  Talk talk(2);
  talk.end(0);
  talk.say(1, "a");
  EXPECT_THAT(talk.shown(), ElementsAre("[1]: a"));
  Talk alone(1);
  alone.say(0, "a");
  alone.say(0, "a");
  EXPECT_THAT(alone.shown(), ElementsAre("[0]: a", "[0]: a"));
  EXPECT_EQ(alone.dedup().bytes(), 0U);
}

TEST(Dedup, ShowsAllWhenAllHaveEnded) {
  Talk talk(2);
  talk.say(0, "a");
  talk.say(1, "b");
  talk.end(1);
  talk.end(0);
  EXPECT_THAT(talk.shown(), ElementsAre("[0]: a", "[1]: b"));
}

TEST(Dedup, NeverTearsThePiecesOfALine) {
  Talk talk(2);
  for (const std::size_t host : {0U, 1U}) {
    talk.say(host, "first ", LineEnd::piece);
    talk.say(host, "rest");
    talk.say(host, "next");
  }
  EXPECT_THAT(talk.shown(),
              ElementsAre("[0]: first ", "[0]: rest", "[1]: first ", "[1]: rest", "[0,1]: next"));
}

TEST(Dedup, ForgetsLinesThatNoHostCanStillSay) {
  Talk talk(2);
  for (int step = 0; step < 100; ++step) talk.say({0, 1}, "step " + std::to_string(step));
  EXPECT_EQ(talk.dedup().bytes(), 0U);
}

TEST(Dedup, ForgetsWhatIsTooOldOrTooMuch) {
  Talk talk(3, {.window = 500ms, .late = 10s, .bytes = 10'000});
  for (int step = 0; step < 100; ++step) {
    talk.say({0, 1}, "step " + std::to_string(step));
    EXPECT_LE(talk.dedup().bytes(), 10'000U);
  }
  EXPECT_EQ(talk.shown().front(), "[0,1]: step 0") << "early, for want of room";
  EXPECT_FALSE(talk.dedup().overflowed());
  talk.say(2, "step 0");
  talk.finish();
  EXPECT_EQ(talk.shown().back(), "[2]: step 0");
  EXPECT_TRUE(talk.dedup().overflowed());
  talk.wait(11s);
  EXPECT_EQ(talk.dedup().bytes(), 0U);
}

TEST(Dedup, WhatWasForgottenLongAgoIsNoOverflow) {
  Talk talk(3, {.window = 500ms, .late = 10s, .bytes = 10'000});
  for (int step = 0; step < 100; ++step) talk.say({0, 1}, "step " + std::to_string(step));
  talk.wait(11s);
  talk.say(2, "good morning");
  EXPECT_FALSE(talk.dedup().overflowed());
}

/// Hosts with several processes each, in the order of their numbers.
std::vector<Hosts> with_processes(Talk& talk, std::size_t hosts, std::size_t processes) {
  std::vector<Hosts> all(hosts);
  for (std::size_t host = 0; host < hosts; ++host) {
    all[host].push_back(host);
    while (all[host].size() < processes) all[host].push_back(talk.add_process(host));
  }
  return all;
}

TEST(Dedup, ProcessesOfAHostHaveAnOrderEach) {
  Talk talk(4);
  const std::vector<Hosts> hosts = with_processes(talk, 4, 3);
  for (std::size_t host = 0; host < 4; ++host) {
    for (std::size_t turn = 0; turn < 3; ++turn) {
      const std::size_t process = host % 2 == 0 ? turn : 2 - turn;
      const std::string text = fmt::format("[{}] ready", process);
      talk.say_keyed(hosts[host][process], text, {.key = text, .of_process = true});
    }
  }
  talk.finish();
  EXPECT_THAT(talk.shown(),
              testing::UnorderedElementsAre("[0-3]: [0] ready", "[0-3]: [1] ready", "[0-3]: [2] ready"));
}

TEST(Dedup, ProcessesThatFailAlikeHaveOneTraceback) {
  Talk talk(8);
  const std::vector<Hosts> hosts = with_processes(talk, 8, 8);
  talk.wait(500ms);
  for (std::size_t line = 0; line < kTheirTraceback.size(); ++line) {
    for (std::size_t host = 0; host < 8; ++host) {
      for (const std::size_t process : hosts[host]) {
        EXPECT_THAT(talk.shown(), IsEmpty());
        talk.say_keyed(process, kTheirTraceback[line], {.key = kTheirTraceback[line], .of_process = true});
      }
    }
    EXPECT_THAT(talk.shown(), ElementsAre("[0-7]: " + kTheirTraceback[line]));
  }
}

TEST(Dedup, ALineOfHostsDoesNotWaitForTheirProcesses) {
  Talk talk(2);
  const std::vector<Hosts> hosts = with_processes(talk, 2, 3);
  talk.say({0, 1}, "torchrun says");
  EXPECT_THAT(talk.shown(), ElementsAre("[0,1]: torchrun says"));
  talk.wait(500ms);
  talk.end(1);
  for (const std::size_t process : hosts[0])
    talk.say_keyed(process, "bye", {.key = "bye", .of_process = true});
  EXPECT_THAT(talk.shown(), ElementsAre("[0]: bye"));
}

TEST(Dedup, ALineIsOneIfItsBytesOrItsFormAreEqual) {
  Talk talk(3);
  const auto say = [&](std::size_t host, std::size_t named) {
    const std::string text = fmt::format("at tpu-{}", named);
    talk.say_keyed(host, text,
                   host == named ? DedupKey{.key = "at own", .plain = text} : DedupKey{.key = text});
  };
  for (const std::size_t first : {0U, 1U, 2U}) {
    for (std::size_t turn = 0; turn < 3; ++turn) say((first + turn) % 3, (first + turn) % 3);
    EXPECT_EQ(talk.shown(), Texts{fmt::format("[0-2]: at tpu-{}", first)});
    for (std::size_t turn = 0; turn < 3; ++turn) say((first + turn) % 3, 1);
    EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: at tpu-1"));
  }
  say(0, 0);
  say(1, 1);
  say(2, 0);
  talk.finish();
  EXPECT_THAT(talk.shown(), testing::UnorderedElementsAre("[0,1]: at tpu-0", "[2]: at tpu-0"));
}

TEST(DedupPhrase, HasNoEntryLeftThatWasForgotten) {
  DedupPhrase phrase;
  std::vector<DedupEntry> entries(3);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].place = i + 1;
    phrase.add_placed(entries[i]);
  }
  phrase.forget_first_placed();
  phrase.remove_placed(entries[2]);
  phrase.remove_placed(entries[1]);
  EXPECT_THAT(phrase.placed, IsEmpty());
}

TEST(Dedup, KeepsTheTextsOfHostsWhereTheyDiffer) {
  Talk talk(3);
  for (std::size_t host = 0; host < 3; ++host) {
    const std::string text = fmt::format("step 7 in {} s", host == 2 ? 1 : host);
    talk.say_keyed(host, text, {.key = "step 7 in # s", .keeps_texts = true});
  }
  EXPECT_THAT(talk.shown(), ElementsAre("[0-2]: step 7 in 0 s | 1: step 7 in 1 s | 2: step 7 in 1 s"));
}

}  // namespace
}  // namespace podrun::output
