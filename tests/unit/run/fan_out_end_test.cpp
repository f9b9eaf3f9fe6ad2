// SPDX-License-Identifier: Apache-2.0
// Interrupts, commands that podrun stops, standard input, and hosts whose output is paused.
#include <array>
#include <csignal>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/text.hpp"
#include "podrun/output/make_sinks.hpp"
#include "podrun/run/fan_out.hpp"

#include "unit/run/fan_out_fixture.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::FanOutTest;
using test::out;
using test::StreamEvents;

/// All are ready and run until they are told something.
class FanOutEnd : public FanOutTest {
 protected:
  void start(std::size_t count) {
    set_up(count);
    for (test::FakeHost& host : hosts_) host.answers["go"] = {};
    begin();
  }
};

TEST_F(FanOutEnd, PassesTheFirstInterruptToEveryCommand) {
  start(2);
  hosts_[0].supervisor->say(StreamEvents{link::Exited{0}, link::Closed{}});
  run_what_is_due();
  interrupt(SIGINT);
  EXPECT_EQ(told(0), "go") << "it has ended";
  EXPECT_EQ(told(1), "go, sig INT");
  hosts_[1].supervisor->say(StreamEvents{link::Exited{130}, link::Closed{}});
  EXPECT_EQ(finish(), "ok, exit 130 (SIGINT)");
  EXPECT_EQ(status(), 130);
}

TEST_F(FanOutEnd, PassesAQuitOnAndSaysSo) {
  start(3);
  hosts_[0].supervisor->say(StreamEvents{link::Exited{0}, link::Closed{}});
  run_what_is_due();
  interrupt(SIGQUIT);
  EXPECT_EQ(told(0), "go");
  EXPECT_EQ(told(1), "go, sig QUIT");
  EXPECT_EQ(told(2), "go, sig QUIT");
  hosts_[1].supervisor->say(StreamEvents{link::Exited{131}, link::Closed{}});
  hosts_[2].supervisor->say(StreamEvents{link::Exited{0}, link::Closed{}});
  EXPECT_EQ(finish(), "ok, exit 131 (SIGQUIT), ok");
  EXPECT_EQ(status(), 131);
  EXPECT_EQ(said(), "podrun: sent QUIT to 2 hosts\n");
}

TEST_F(FanOutEnd, EndsTheInputAtTheSecondInterruptAndLeavesAtTheThird) {
  set_up(1);
  hosts_[0].answers["go"] = {};
  hosts_[0].answers["end of input"] = {};
  begin();
  interrupt(SIGINT);
  interrupt(SIGINT);
  EXPECT_EQ(told(0), "go, sig INT, end of input");
  EXPECT_FALSE(left_);
  interrupt(SIGINT);
  EXPECT_TRUE(left_);
}

TEST_F(FanOutEnd, EndsTheInputAtOnceWhenTerminated) {
  start(2);
  interrupt(SIGTERM);
  EXPECT_EQ(told(0), "go, end of input");
  EXPECT_EQ(told(1), "go, end of input");
  EXPECT_EQ(finish(), "stopped by podrun, stopped by podrun");
  EXPECT_EQ(status(), 143);
}

/// A Ctrl-C that comes when so many handlers have run.
class FanOutInterrupted : public FanOutTest, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Steps, FanOutInterrupted, testing::Range(0, 24));

TEST_P(FanOutInterrupted, EndsAtAnyStep) {
  set_up(2);
  plan_.limits.fanout = 1;
  launch();
  for (int step = 0; step < GetParam(); ++step) context_->poll_one();
  fan_out_->interrupt(SIGINT);
  EXPECT_EQ(finish().find("not finished"), std::string::npos) << outcomes();
}

TEST_F(FanOutEnd, CancelsBeforeTheStart) {
  set_up(3);
  hosts_[0].connects = false;
  hosts_[1].greets = false;
  begin();
  interrupt(SIGINT);
  EXPECT_EQ(finish(), "not started, not started, not started");
  EXPECT_EQ(hosts_[0].stopped, (link::Failure{link::Stage::none, link::Cause::cancelled}))
      << "it knows its stage itself";
  for (const std::size_t host : {1U, 2U}) {
    EXPECT_EQ(told(host), "");
    EXPECT_TRUE(hosts_[host].supervisor->stopped());
  }
  EXPECT_EQ(status(), 130);
}

/// A host that is alone is given its command with the supervisor.
class FanOutEarly : public FanOutTest {
 protected:
  void start() {
    set_up(1);
    hosts_[0].greets = false;
    begin();
  }
};

TEST_F(FanOutEarly, TakesACommandForStartedThatMayHaveWhenItIsCancelled) {
  start();
  interrupt(SIGINT);
  EXPECT_EQ(finish(), "stopped by podrun") << "nobody knows better";
  EXPECT_EQ(status(), 130);
}

TEST_F(FanOutEarly, TakesItForNotStartedWhereThereIsNoConnectionYet) {
  set_up(1);
  hosts_[0].connects = false;
  begin();
  interrupt(SIGINT);
  EXPECT_EQ(finish(), "not started");
}

TEST_F(FanOutEarly, TakesItForNotStartedWhereItWaitsForItsFiles) {
  plan_.command.files = {{"script", "text"}};
  start();
  interrupt(SIGINT);
  EXPECT_EQ(finish(), "not started");
}

TEST_F(FanOutEnd, EndsTheOthersAtTheFirstFailure) {
  set_up(2);
  plan_.limits.on_failure = OnFailure::stop_others;
  hosts_[0].answers["go"] = {link::Exited{7}, link::Closed{}};
  hosts_[1].answers["go"] = {};
  EXPECT_EQ(run(), "exit 7, stopped by podrun");
  EXPECT_EQ(told(1), "go, end of input");
  EXPECT_EQ(fan_out_->policy().culprit(), 0U);
  EXPECT_EQ(status(), 7);
}

TEST_F(FanOutEnd, TimesOutACommand) {
  set_up(1);
  plan_.limits.timeout = 0s;
  hosts_[0].answers["go"] = {};
  EXPECT_EQ(run(), "timed out after 0 s");
  EXPECT_EQ(told(0), "go, end of input");
  EXPECT_EQ(status(), 124);
}

TEST_F(FanOutEnd, GoesOnWhileWhatTheCommandLeftHasItsOutputOpen) {
  set_up(2);
  hosts_[0].answers["go"] = {link::Exited{5}};
  hosts_[0].holders = "7 (sleep)\n8 (\x1b[2J)\n";
  hosts_[1].answers["go"] = {link::Exited{0}};
  hosts_[1].holders = "9 (python3)\n";
  begin();
  ASSERT_TRUE(run_until([this] {
    return fan_out_->policy().state(0) == RunPolicy::State::lingering &&
           fan_out_->policy().state(1) == RunPolicy::State::lingering;
  })) << "after two seconds";
  hosts_[1].supervisor->say(link::Closed{});
  context_->restart();
  context_->run_for(1100ms);  // in which others would join it
  hosts_[0].supervisor->say(StreamEvents{out("late\n"), link::Closed{}});
  EXPECT_EQ(finish(), "exit 5, ok");
  EXPECT_EQ(lines(), std::vector<std::string>{"0 out: late"});
  EXPECT_EQ(
      said(),
      "podrun: [0] command ended; pid 7 (sleep), 8 (\\x1b[2J) still have their output open. Ctrl-C stops "
      "them; to leave them running, redirect their output (> log 2>&1)\n");
}

TEST_F(FanOutEnd, SignalsWhatTheCommandLeft) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{0}};
  hosts_[0].holders = "7 (sleep)\n";
  hosts_[0].rest_answers["end of input"] = {};
  begin();
  interrupt(SIGINT);  // instead of two seconds
  const auto told_rest = [this] { return join(hosts_[0].rest->told(), ", "); };
  ASSERT_TRUE(hosts_[0].rest);
  EXPECT_EQ(told_rest(), "sig INT");
  interrupt(SIGINT);
  EXPECT_EQ(told_rest(), "sig INT, end of input");
  EXPECT_EQ(fan_out_->status().hosts[0].state, RunPolicy::State::stopping);
  hosts_[0].supervisor->say(link::Closed{});
  run_what_is_due();
  EXPECT_FALSE(done_) << "more may be left than what had the output open";
  hosts_[0].rest->say(
      StreamEvents{test::err("podrun: left behind: pid 9 (x) of root\n"), link::Exited{0}, link::Closed{}});
  EXPECT_EQ(finish(), "ok");
  EXPECT_EQ(told(0), "go");
  EXPECT_EQ(status(), 130);
  EXPECT_EQ(lines(), std::vector<std::string>{"0 err: podrun: left behind: pid 9 (x) of root"});
}

TEST_F(FanOutEnd, EndsWhatTheCommandLeftAfterAnInterruptThatClosedItsOutput) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{0}};
  hosts_[0].holders = "7 (sleep)\n";
  begin();
  interrupt(SIGINT);
  ASSERT_TRUE(hosts_[0].rest);
  hosts_[0].supervisor->say(link::Closed{});
  EXPECT_EQ(finish(), "ok");
  EXPECT_EQ(hosts_[0].rest->told(), (std::vector<std::string>{"sig INT", "end of input"}));
}

TEST_F(FanOutEnd, LetsGoOfWhatIsStuckAtTheSecondInterrupt) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{0}};
  hosts_[0].holders = "7 (cat) 12\n";
  begin();
  interrupt(SIGINT);
  EXPECT_FALSE(done_);
  interrupt(SIGINT);
  EXPECT_TRUE(done_);
  EXPECT_FALSE(hosts_[0].rest);
  EXPECT_EQ(said(),
            "podrun: waiting for trailing output of 1 host (Ctrl-C again: stop what still writes it)\n"
            "podrun: [0] command ended; pid 7 (cat) still has its output open, not waiting for it\n");
  EXPECT_EQ(open_outputs_, std::vector<std::string>{"0: pid 7 (cat)"});
}

TEST_F(FanOutEnd, StopsWhatTheHostDoesNotName) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{0}};
  hosts_[0].names_holders = false;
  begin();
  interrupt(SIGTERM);
  EXPECT_FALSE(done_);
  EXPECT_TRUE(run_until([this] { return hosts_[0].rest != nullptr; })) << "after five seconds";
  run_what_is_due();
  EXPECT_THAT(hosts_[0].rest->told(), testing::Contains("end of input")) << "it may stop what it cannot name";
  hosts_[0].supervisor->say(link::Closed{});
  EXPECT_EQ(finish(), "ok");
  EXPECT_EQ(said(), "");
}

TEST_F(FanOutEnd, AwaitsTheOutputOfAHostThatDoesNotAnswer) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{0}};
  hosts_[0].runs_helpers = false;
  begin();
  interrupt(SIGINT);
  context_->restart();
  context_->run_for(6s);
  ASSERT_FALSE(done_);
  hosts_[0].supervisor->say(StreamEvents{out("late\n"), link::Closed{}});
  EXPECT_EQ(finish(), "ok");
  EXPECT_EQ(lines(), std::vector<std::string>{"0 out: late"});
}

TEST_F(FanOutEnd, LetsGoOfAHostThatDoesNotAnswerAtTheSecondInterrupt) {
  set_up(1);
  plan_.limits.grace = 0s;
  hosts_[0].answers["go"] = {link::Exited{0}};
  hosts_[0].runs_helpers = false;
  begin();
  interrupt(SIGINT);
  EXPECT_FALSE(done_);
  interrupt(SIGINT);
  EXPECT_EQ(finish(), "ok");
  EXPECT_THAT(said(),
              testing::EndsWith("podrun: [0] command ended; its host does not answer, not waiting for it\n"));
}

TEST_F(FanOutEnd, EndsWhatTheCommandLeftAtASecondInterruptBeforeItIsNamed) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{0}};
  hosts_[0].holders = "7 (sleep)\n";
  hosts_[0].names_holders = false;
  begin();
  interrupt(SIGINT);
  interrupt(SIGINT);
  EXPECT_FALSE(done_);
  ASSERT_TRUE(hosts_[0].asked);
  hosts_[0].asked->greet("ready - - - - ", "", hosts_[0].holders);
  hosts_[0].asked->say({link::Exited{0}, link::Closed{}});
  run_what_is_due();
  ASSERT_TRUE(hosts_[0].rest);
  EXPECT_THAT(hosts_[0].rest->told(), testing::Contains("end of input"));
  hosts_[0].rest->say(StreamEvents{link::Exited{0}, link::Closed{}});
  hosts_[0].supervisor->say(link::Closed{});
  finish();
}

TEST_F(FanOutEnd, WaitsForOutputThatIsStillOnItsWay) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{0}, out("first\n")};
  begin();
  interrupt(SIGINT);  // instead of two seconds
  EXPECT_FALSE(done_);
  hosts_[0].supervisor->say(StreamEvents{out("last\n"), link::Closed{}});
  EXPECT_EQ(finish(), "ok");
  EXPECT_EQ(lines(), (std::vector<std::string>{"0 out: first", "0 out: last"}));
  EXPECT_EQ(said(),
            "podrun: waiting for trailing output of 1 host (Ctrl-C again: stop what still writes it)\n");
}

using Answer = OutputHolders::Answer;

TEST(TrailingOutput, IsAwaitedForSomeLooksWhereNobodyHoldsIt) {
  TrailingOutput output;
  for (int look = 1; look <= 5; ++look) {
    output.add(1);
    EXPECT_TRUE(output.is_awaited(Answer::nobody, false));
  }
  output.add(1);
  EXPECT_FALSE(output.is_awaited(Answer::nobody, false)) << "a child prints that the host does not see";
}

TEST(TrailingOutput, IsLetGoWhereNothingComes) {
  TrailingOutput output;
  output.add(1);
  EXPECT_TRUE(output.is_awaited(Answer::nobody, false));
  EXPECT_FALSE(output.is_awaited(Answer::nobody, false));
}

TEST(TrailingOutput, IsAwaitedWhileMuchComes) {
  TrailingOutput output;
  output.add((32 << 10) - 1);
  EXPECT_FALSE(output.is_awaited(Answer::somebody, false)) << "a child that prints now and then";
  output.add(32 << 10);
  EXPECT_TRUE(output.is_awaited(Answer::somebody, false));
}

TEST(TrailingOutput, IsLetGoWhenMoreHasComeThanCanBeOnItsWay) {
  TrailingOutput output;
  output.add(4 << 20);
  EXPECT_TRUE(output.is_awaited(Answer::somebody, false));
  output.add(1);
  EXPECT_FALSE(output.is_awaited(Answer::somebody, true)) << "a child that floods a slow reader";
  EXPECT_FALSE(output.is_awaited(Answer::none, false));
}

TEST(TrailingOutput, IsAwaitedWhileItIsPaused) {
  TrailingOutput output;
  for (int look = 0; look < 100; ++look) EXPECT_TRUE(output.is_awaited(Answer::somebody, true));
}

TEST(TrailingOutput, IsAwaitedForAMinuteWithoutAnAnswer) {
  TrailingOutput output;
  for (int look = 1; look <= 8; ++look) EXPECT_TRUE(output.is_awaited(Answer::none, false));
  EXPECT_FALSE(output.is_awaited(Answer::none, false));
}

using Fate = TrailingOutput::Fate;

TEST(TrailingOutput, LingersWhileProcessesHoldItThatCanBeSignalled) {
  TrailingOutput output;
  EXPECT_EQ(output.decide(Answer::somebody, {{{"7", "sh"}}}, false), Fate::lingers);
  EXPECT_EQ(output.decide(Answer::somebody, {{{"7", "sh", "3"}, {"8", "sh"}}}, false), Fate::lingers);
  EXPECT_EQ(output.decide(Answer::none, {}, false), Fate::lingers) << "the host is busy";
  EXPECT_EQ(output.decide(Answer::somebody, {}, false), Fate::lingers) << "it cannot start a program now";
  EXPECT_EQ(output.decide(Answer::nobody, {}, false), Fate::let_go) << "what holds it now cannot be seen";
}

TEST(TrailingOutput, IsLetGoWhereAllThatHoldsItIsStuck) {
  TrailingOutput output;
  const supervisor::Holders stuck = {{{"7", "cat", "3"}, {"8", "cat", "4"}}};
  for (int look = 1; look <= 4; ++look)
    EXPECT_EQ(output.decide(Answer::somebody, stuck, false), Fate::looked_at_again);
  const supervisor::Holders moved = {{{"7", "cat", "3"}, {"8", "cat", "5"}}};
  for (int look = 1; look <= 4; ++look)
    EXPECT_EQ(output.decide(Answer::somebody, moved, false), Fate::looked_at_again) << "it reads, slowly";
  EXPECT_EQ(output.decide(Answer::somebody, moved, false), Fate::let_go);
}

TEST(TrailingOutput, IsNoMoreThanAwaitedWhereNobodyIsSeen) {
  TrailingOutput output;
  output.add(1);
  EXPECT_EQ(output.decide(Answer::nobody, {}, false), Fate::looked_at_again);
  EXPECT_EQ(output.decide(Answer::nobody, {}, false), Fate::let_go);
}

TEST_F(FanOutEnd, TellsTheHostsToWaitWhileItIsStopped) {
  start(1);
  bool told_all = false;
  asio::co_spawn(*context_, fan_out_->suspend(), [&](const std::exception_ptr&) { told_all = true; });
  ASSERT_TRUE(run_until([&] { return told_all; }));
  EXPECT_EQ(told(0), "go, suspended, suspended");
  fan_out_->resume();
  run_what_is_due();
  EXPECT_EQ(told(0), "go, suspended, suspended, heartbeat");
  interrupt(SIGTERM);
  EXPECT_EQ(finish(), "stopped by podrun");
}

TEST_F(FanOutEnd, CopiesStandardInputToEveryCommand) {
  set_up(2);
  plan_.supervision.input = supervisor::StandardInput::fed;
  test::Pipe pipe;
  input_.emplace(context_, InputSource{"standard input", pipe.read_fd()}, 2);
  for (test::FakeHost& host : hosts_) host.answers["go"] = {};
  begin();
  ASSERT_EQ(::write(pipe.write_fd(), "text\n", 5), 5);
  ASSERT_TRUE(run_until([&] { return hosts_[0].feeder->written() == "text\n"; }));
  EXPECT_FALSE(hosts_[0].feeder->input_ended());
  pipe.close_write();
  for (std::size_t host = 0; host < 2; ++host) {
    ASSERT_TRUE(run_until([&] { return hosts_[host].feeder->input_ended(); }));
    EXPECT_EQ(hosts_[host].feeder->written(), "text\n");
    EXPECT_EQ(hosts_[host].programs.at(1).arguments.at(2), "/run/podrun.in");
    hosts_[host].supervisor->say(StreamEvents{link::Exited{0}, link::Closed{}});
  }
  EXPECT_EQ(finish(), "ok, ok");
}

TEST_F(FanOutEnd, EndsThoughStandardInputDoesNot) {
  set_up(2);
  plan_.supervision.input = supervisor::StandardInput::fed;
  static const auto& pipe = *new test::Pipe;  // stays: a thread goes on to read it
  input_.emplace(context_, InputSource{"standard input", pipe.read_fd()}, 2);
  EXPECT_EQ(run(), "ok, ok");
  input_.reset();
  EXPECT_TRUE(run_until([this] { return context_.use_count() == 1; }));
}

/// The real way to a terminal that nobody reads.
class FanOutReadingPaused : public FanOutEnd {
 protected:
  std::shared_ptr<output::Sink> make_sink() override {
    return output::make_stream_sink(plan_.hosts, {output::Label::none, {}}, *terminal_);
  }
};

TEST_F(FanOutReadingPaused, ReadsNoMoreThanTheReaderTakesAndTimesNothingOut) {
  set_up(1);
  plan_.limits.timeout = 1s;
  constexpr std::size_t kChunks = 64;
  StreamEvents answer;
  for (std::size_t i = 0; i < kChunks; ++i) answer.push_back(out(std::string(Chunk::kMaxSize, 'x')));
  answer.insert(answer.end(), {link::Exited{0}, link::Closed{}});
  hosts_[0].answers["go"] = answer;
  begin();
  EXPECT_GT(hosts_[0].supervisor->unread(), kChunks / 2);
  context_->restart();
  context_->run_for(1100ms);
  EXPECT_EQ(told(0), "go") << "no timer runs against a host while reading is paused";
  auto text = std::async(std::launch::async, [this] { return out_.read_to_end(); });
  EXPECT_EQ(finish(), "ok");
  output_.reset();
  out_.close_write();
  EXPECT_EQ(text.get().size(), kChunks * Chunk::kMaxSize);
}

}  // namespace
}  // namespace podrun::run
