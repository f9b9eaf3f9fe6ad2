// SPDX-License-Identifier: Apache-2.0
#include "podrun/session/session.hpp"

#include <gmock/gmock.h>

#include "unit/session/session_fixture.hpp"

namespace podrun::session {
namespace {

using test::out;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SessionTest : public test::SessionTest {};

TEST_F(SessionTest, CollectsOutputAndOutcomesAsValues) {
  set_up(2);
  prints(0, "a\nb");
  hosts_[1].answers["go"] = {test::err("oops\n"), link::Exited{3}, link::Closed{}};
  const Answers answers = collect(session(), command());
  EXPECT_THAT(answers.texts, ElementsAre("a\nb\n", ""));
  EXPECT_THAT(answers.errors, ElementsAre("", "oops\n"));
  EXPECT_THAT(answers.result.outcomes,
              ElementsAre(run::HostOutcome(link::Exited{0}), run::HostOutcome(link::Exited{3})));
  EXPECT_EQ(answers.result.status, 3);
  session_.reset();
  EXPECT_EQ(all_of(out_) + all_of(err_), "");
}

TEST_F(SessionTest, PrintsItsNotesOnceAndThoseOfARunWithEachRun) {
  set_up(1);
  spec_.notes = {"of the hosts"};
  RunSpec run = command();
  run.notes = {"of the run"};
  collect(session(), run);
  collect(*session_, run);
  session_.reset();
  EXPECT_EQ(all_of(err_), "podrun: of the hosts\npodrun: of the run\npodrun: of the run\n");
}

TEST_F(SessionTest, KeepsConnectionsBetweenRuns) {
  set_up(2);
  collect(session(Connections::kept), command());
  collect(*session_, command());
  EXPECT_EQ(hosts_[0].logins, 1U);
  EXPECT_EQ(hosts_[1].logins, 1U);
}

TEST_F(SessionTest, ConnectsAgainForEachRunWhereConnectionsAreClosed) {
  set_up(1);
  collect(session(Connections::closed), command());
  collect(*session_, command());
  EXPECT_EQ(hosts_[0].logins, 2U);
}

TEST_F(SessionTest, RunsOnTheChosenHostsOnly) {
  set_up(3);
  const RunSpec all = command();
  const RunSpec run = with_hosts(all, {0, 2});
  EXPECT_NE(run.plan.run_id, all.plan.run_id);
  EXPECT_EQ(collect(session(), run).texts.size(), 2U);
  EXPECT_FALSE(hosts_[1].opened);
}

TEST_F(SessionTest, StartsAUsersCommandOnAllHostsOrOnNone) {
  set_up(2);
  refuse(1);
  const Answers answers = collect(session(), command());
  EXPECT_EQ(answers.result.status, 255);
  EXPECT_TRUE(std::holds_alternative<run::NotStarted>(answers.result.outcomes[0]));
  EXPECT_THAT(hosts_[0].told(), Not(testing::Contains("go")));
}

TEST_F(SessionTest, StartsItsOwnWorkOnAllHostsOrOnNone) {
  set_up(2);
  refuse(0);
  const Answers answers = collect(session(), all_or_nothing(spec_, {"set -- true", {}}));
  EXPECT_TRUE(std::holds_alternative<run::NotStarted>(answers.result.outcomes[1]));
}

TEST_F(SessionTest, AsksWhoeverAnswersAndNamesTheOthers) {
  set_up(3);
  prints(0, "here");
  prints(2, "here", 1);
  refuse(1);
  const Answers answers =
      ask_hosts(session(), whoever_answers(spec_, {"set -- true", {}}, std::chrono::seconds(60)));
  EXPECT_THAT(answers.texts, ElementsAre("here\n", "", "here\n"));
  EXPECT_EQ(answers.result.status, 255);
  session_.reset();
  const std::string said = all_of(err_);
  EXPECT_THAT(said, HasSubstr("podrun: unreachable: [1] tpu-1: connecting: connection refused\n"));
  EXPECT_THAT(said, HasSubstr("podrun: exit 1: [2] tpu-2\n"));
}

TEST_F(SessionTest, KeepsOnlyTheBeginningOfALongAnswer) {
  set_up(1);
  hosts_[0].answers["go"] = {out(std::string(200'000, 'x') + '\n'), out(std::string(200'000, 'y') + '\n'),
                             out("z\n"), link::Exited{0}, link::Closed{}};
  const RunSpec run = whoever_answers(spec_, {"set -- true", {}}, std::nullopt);
  EXPECT_EQ(ask_hosts(session(), run).texts[0].size(), 400'002U);
  EXPECT_EQ(collect(session(), run).texts[0].size(), 400'004U);
}

TEST_F(SessionTest, ShortensTheGracePeriodOfItsOwnWork) {
  set_up(1);
  const RunSpec run = quick_answers(spec_, {"set -- true", {}}, std::nullopt);
  EXPECT_EQ(run.plan.limits.grace, std::chrono::seconds(1));
  EXPECT_EQ(run.plan.supervision.grace, std::chrono::seconds(1));
  EXPECT_EQ(run.plan.limits.patience, kPatience);
}

TEST_F(SessionTest, ShowsOutputAndReportsFailuresOfAUsersCommand) {
  set_up(2);
  prints(0, "fine\n");
  prints(1, "Traceback\n", 7);
  const RunSpec run = command();
  CommandMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 7);
  session_.reset();
  const std::string shown = all_of(out_);
  EXPECT_THAT(shown, HasSubstr("0: fine\n"));
  EXPECT_THAT(shown, HasSubstr("1: Traceback\n"));
  EXPECT_THAT(all_of(err_), HasSubstr("exit 7: [1] tpu-1\n"));
}

TEST_F(SessionTest, ReportsEventsAsJson) {
  set_up(2);
  prints(0, "fine\n");
  refuse(1);
  RunSpec run = command();
  run.view.json = true;
  CommandMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 255);
  session_.reset();
  const std::string events = all_of(out_);
  EXPECT_THAT(events, HasSubstr(R"("event":"start")"));
  EXPECT_THAT(events, HasSubstr(R"("outcome":"unreachable")"));
  EXPECT_THAT(events, HasSubstr(R"("outcome":"not_started")"));
  EXPECT_THAT(events, HasSubstr(R"("event":"summary")"));
}

TEST_F(SessionTest, EndsTheRunWhenNobodyReadsItsOutput) {
  set_up(1);
  hosts_[0].answers["go"] = {out("text\n")};  // and goes on
  out_.close_read();
  const RunSpec run = command();
  CommandMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 128 + SIGPIPE);
  EXPECT_THAT(hosts_[0].told(), testing::Contains("end of input"));
}

TEST_F(SessionTest, EndsASilentRunWhenNobodyIsLeftToReadIt) {
  set_up(1);
  hosts_[0].answers["go"] = {};  // and goes on
  out_.close_read();
  spec_.needs_reader = true;
  const RunSpec run = command();
  CommandMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 128 + SIGPIPE);
  EXPECT_EQ(session_->wait_until(run::TimePoint::max(), [](run::TimePoint) { return output::StatusText(); }),
            SIGPIPE);
}

TEST_F(SessionTest, RunsForItsEffectWithoutAReader) {
  set_up(1);
  out_.close_read();
  const RunSpec run = command();
  CommandMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 0);
  EXPECT_EQ(session_->wait_until(run::TimePoint(), [](run::TimePoint) { return output::StatusText(); }),
            std::nullopt);
}

TEST_F(SessionTest, FailsWhenItCannotWriteItsOutput) {
  set_up(1);
  prints(0, "text\n");
  spec_.terminal = std::make_shared<output::Terminal>(::open("/dev/full", O_WRONLY), err_.write_fd());
  const RunSpec run = command();
  CommandMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 1);
  session_.reset();
  spec_.terminal.reset();
  EXPECT_THAT(all_of(err_), HasSubstr("podrun: cannot write "));
}

TEST_F(SessionTest, AnswersOnStandardOutput) {
  set_up(1);
  EXPECT_EQ(session().answer("text\n"), 0);
  session_.reset();
  EXPECT_EQ(all_of(out_), "text\n");
}

constexpr link::StageWords kPreparing{"preparing", "preparing"};

/// Records what the session asks of the preparation.
class PreparingMode final : public CommandMode, private HostPreparation {
 public:
  using CommandMode::CommandMode;

  HostPreparation* preparation() override { return this; }

  std::vector<std::string> calls;
  std::optional<std::size_t> fails_on;

 private:
  void begin_pass(output::Output& /*output*/) override { calls.emplace_back("begin"); }
  link::Stage stage() const override { return kPreparing; }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& /*supervised*/) override {
    calls.push_back(fmt::format("prepare {}", host));
    if (fails_on == host) throw link::HostError({kPreparing, link::Cause::other, "no room"});
    co_return;
  }
};

TEST_F(SessionTest, PreparesEveryHostBeforeTheStart) {
  set_up(2);
  const RunSpec run = command();
  PreparingMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 0);
  EXPECT_THAT(mode.calls, ElementsAre("begin", "prepare 0", "prepare 1"));
}

TEST_F(SessionTest, StartsNothingWhenAPreparationFails) {
  set_up(2);
  const RunSpec run = command();
  PreparingMode mode(run, session());
  mode.fails_on = 1;
  const RunResult result = session_->run(run, mode);
  EXPECT_EQ(result.status, 255);
  EXPECT_TRUE(std::holds_alternative<run::NotStarted>(result.outcomes[0]));
  session_.reset();
  EXPECT_THAT(all_of(err_), HasSubstr("no room"));
}

/// Releases the run when all hosts wait, or cancels it.
class HoldingMode final : public CommandMode, private HeldRun {
 public:
  using CommandMode::CommandMode;

  HeldRun* held_run() override { return this; }

  bool cancels = false;
  unsigned waited = 0;

 private:
  void all_wait(output::Output& /*output*/, const Controls& controls) override {
    ++waited;
    cancels ? controls.cancel() : controls.release("set -- echo released", {});
  }
  bool has_terminal() const override { return false; }
  bool takes_signal(int /*signal*/) override { return false; }
};

TEST_F(SessionTest, StartsAHeldRunWhenItsModeReleasesIt) {
  set_up(2);
  RunSpec run = command();
  run.plan.limits.held = true;
  HoldingMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 0);
  EXPECT_EQ(mode.waited, 1U);
  EXPECT_THAT(hosts_[0].supervisor->command(), HasSubstr("echo released"));
}

TEST_F(SessionTest, StartsNothingInAHeldRunThatItsModeCancels) {
  set_up(2);
  RunSpec run = command();
  run.plan.limits.held = true;
  HoldingMode mode(run, session());
  mode.cancels = true;
  const RunResult result = session_->run(run, mode);
  for (const run::HostOutcome& outcome : result.outcomes)
    EXPECT_TRUE(std::holds_alternative<run::NotStarted>(outcome));
}

/// Looks until it is told that the run is over.
class WatchingMode final : public CommandMode, private RunWatch {
 public:
  using CommandMode::CommandMode;

  RunWatch* watch() override { return this; }

  unsigned looks = 0;
  bool is_over = false;

 private:
  asio::awaitable<void> look(run::FanOut& /*fan_out*/, output::Output& /*output*/) override {
    ++looks;
    over_.emplace(co_await asio::this_coro::executor);
    co_await over_->wait();
  }
  void run_over() override {
    is_over = true;
    if (over_) over_->notify();
  }

  std::optional<Event> over_;
};

TEST_F(SessionTest, TellsAWatchThatTheRunIsOver) {
  set_up(2);
  hosts_[1].connects = false;
  spec_.limits.connect_timeout = std::chrono::seconds(2);
  const RunSpec run = command();
  WatchingMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 255);
  EXPECT_EQ(mode.looks, 1U);
  EXPECT_TRUE(mode.is_over);
}

TEST_F(SessionTest, TellsAWatchSoWhereItHasNotLookedYet) {
  set_up(1);
  const RunSpec run = command();
  WatchingMode mode(run, session());
  EXPECT_EQ(session_->run(run, mode).status, 0);
  EXPECT_TRUE(mode.is_over);
}

TEST_F(SessionTest, PrintsAStatusLineOffATerminalWhereARunTakesLong) {
  set_up(2);
  hosts_[1].connects = false;
  spec_.limits.connect_timeout = std::chrono::seconds(2);
  spec_.status.way = output::StatusWay::lines;
  collect(session(), command());
  session_.reset();
  EXPECT_THAT(all_of(err_), HasSubstr("podrun: 1 connecting | 1 ready\n"));
}

TEST_F(SessionTest, PrintsNoStatusLineForAShortRun) {
  set_up(2);
  spec_.status.way = output::StatusWay::lines;
  collect(session(), command());
  session_.reset();
  EXPECT_THAT(all_of(err_), IsEmpty());
}

}  // namespace
}  // namespace podrun::session
