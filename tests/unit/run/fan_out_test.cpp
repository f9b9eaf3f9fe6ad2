// SPDX-License-Identifier: Apache-2.0
// The barrier, what is sent, and what comes of it.
#include "podrun/run/fan_out.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/run/fan_out_fixture.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::err;
using test::FanOutTest;
using test::out;
using test::StreamEvents;
using testing::ElementsAre;
using testing::HasSubstr;

link::HostError full_disk() { return link::HostError({test::kPreparing, link::Cause::other, "disk full"}); }

TEST_F(FanOutTest, StartsNoHostBeforeAllAreReady) {
  set_up(3);
  hosts_[1].greets = false;
  begin();
  EXPECT_EQ(told(0), "");
  EXPECT_EQ(told(2), "");
  hosts_[1].supervisor->greet("ready - - - - ");
  EXPECT_EQ(finish(), "ok, ok, ok");
  for (std::size_t host = 0; host < 3; ++host) EXPECT_EQ(told(host), "go");
  EXPECT_EQ(status(), 0);
}

TEST_F(FanOutTest, StartsNoHostBeforeAllArePrepared) {
  set_up(2);
  Event prepared(context_->get_executor());
  prepare_host_ = [&](std::size_t host, supervisor::Supervised&) -> asio::awaitable<void> {
    if (host == 1) co_await prepared.wait();
  };
  begin();
  EXPECT_EQ(told(0), "");
  EXPECT_EQ(fan_out_->status().hosts[1].stage, test::kPreparing);
  prepared.notify();
  EXPECT_EQ(finish(), "ok, ok");
}

TEST_F(FanOutTest, StartsNothingWhenAHostCannotBePrepared) {
  set_up(2);
  prepare_host_ = [](std::size_t host, supervisor::Supervised&) -> asio::awaitable<void> {
    if (host == 1) throw full_disk();
    co_return;
  };
  EXPECT_EQ(run(), "not started, not ready: preparing: disk full");
  EXPECT_EQ(told(0), "");
}

TEST_F(FanOutTest, StartsASingleHostOnlyWhenItIsPrepared) {
  set_up(1);
  prepare_host_ = [](std::size_t, supervisor::Supervised&) -> asio::awaitable<void> {
    throw full_disk();
    co_return;
  };
  EXPECT_EQ(run(), "not ready: preparing: disk full");
}

TEST_F(FanOutTest, StartsNothingWhenAHostRefuses) {
  set_up(2);
  hosts_[1].refuses = link::Failure{link::Stage::connecting, link::Cause::refused};
  EXPECT_EQ(run(), "not started, unreachable: connecting: connection refused");
  EXPECT_EQ(told(0), "");
  EXPECT_TRUE(hosts_[0].supervisor->stopped());
  EXPECT_EQ(status(), 255);
}

TEST_F(FanOutTest, SaysWhyASupervisorIsNotReady) {
  set_up(3);
  plan_.supervision.directory = "/app";
  plan_.supervision.preparations = {supervisor::clean_up()};
  hosts_[0].hello = "nodir";
  hosts_[1].hello = "unprepared 0 pid 7 (python) holds /tmp/libtpu_lockfile";
  EXPECT_EQ(run(),
            "not ready: working directory: no such directory \"/app\", not ready: clean-up: pid 7 (python) "
            "holds /tmp/libtpu_lockfile, not started");
  EXPECT_EQ(told(2), "");
}

TEST_F(FanOutTest, NamesTheStageThatTookTooLong) {
  set_up(2);
  plan_.limits.connect_timeout = 0s;
  plan_.limits.retries = 0;
  hosts_[0].connects = false;
  hosts_[1].greets = false;
  EXPECT_EQ(
      run(),
      "unreachable: connecting: timed out after 0 s, unreachable: starting /bin/sh: timed out after 0 s");
}

TEST_F(FanOutTest, CountsAHostThatDiesAtTheBarrierAsUnreachable) {
  set_up(2);
  hosts_[1].greets = false;
  begin();
  hosts_[0].supervisor->say(StreamEvents{link::Exited{1}, link::Closed{}});
  run_what_is_due();
  hosts_[1].supervisor->greet("ready - - - - ");
  EXPECT_EQ(finish(), "unreachable: ready: podrun's script ended before the start, not started");
  EXPECT_EQ(told(1), "");
}

TEST_F(FanOutTest, SaysWhatAShellThatIsNoneSaid) {
  set_up(1);
  hosts_[0].greets = false;
  begin();
  hosts_[0].supervisor->say(
      StreamEvents{err("This account is not available.\n"), link::Exited{1}, link::Closed{}});
  EXPECT_EQ(finish(), "not ready: starting /bin/sh: This account is not available. (exit 1)");
  EXPECT_THAT(lines(), ElementsAre("0 err: This account is not available."));
}

TEST_F(FanOutTest, RunsOnTheRestWithTheRanksOfThoseThatRun) {
  set_up(3);
  plan_.limits.on_unreachable = OnUnreachable::skip;
  hosts_[0].refuses = link::Failure{link::Stage::connecting, link::Cause::unreachable, "no route"};
  hosts_[1].hello = "ready 10.0.0.1 50000 10.0.0.11 22 ";
  EXPECT_EQ(run(), "unreachable: connecting: no route, ok, ok");
  EXPECT_THAT(hosts_[2].supervisor->command(),
              HasSubstr("export PODRUN_RANK=1; export PODRUN_WORKER=2; export PODRUN_HOST=tpu-2; export "
                        "PODRUN_NUM_HOSTS=2; "));
  EXPECT_THAT(hosts_[2].supervisor->command(), HasSubstr("export PODRUN_RUN_ID=id; "));
  EXPECT_THAT(hosts_[2].supervisor->command(), HasSubstr("export PODRUN_HOST0=10.0.0.11; "));
  EXPECT_TRUE(hosts_[2].supervisor->command().ends_with("; set -- true"));
  EXPECT_EQ(hosts_[2].programs.front().arguments.at(1), "id.2.");
}

/// Keeps the names of the hosts as `0: tpu-a 10.0.0.11`.
class NamesSink final : public output::Sink {
 public:
  explicit NamesSink(std::shared_ptr<std::vector<std::string>> names) : names_(std::move(names)) {}
  bool wants_names() const override { return true; }
  void host_named(std::size_t host, const std::vector<std::string>& names) override {
    names_->push_back(fmt::format("{}: {}", host, join(names, " ")));
  }
  void line(const output::Line&) override {}

 private:
  std::shared_ptr<std::vector<std::string>> names_;
};

class FanOutNames : public FanOutTest {
 protected:
  std::shared_ptr<output::Sink> make_sink() override { return std::make_shared<NamesSink>(lines_); }
};

TEST_F(FanOutNames, PassesOnHowAHostCallsItself) {
  set_up(2);
  hosts_[0].hello = "ready names=tpu-a,10.1.0.1 10.0.0.1 50000 10.0.0.11 22 ";
  EXPECT_EQ(run(), "ok, ok");
  EXPECT_THAT(lines(), testing::UnorderedElementsAre("0: tpu-a 10.1.0.1 10.0.0.11", "1: "));
  EXPECT_EQ(hosts_[1].programs.front().arguments.at(6), "names");
}

TEST_F(FanOutTest, RunsOneBatchAfterTheOtherWithTheRanksOfAll) {
  set_up(2);
  plan_.limits.serial = 1;
  hosts_[0].answers["go"] = {};
  begin();
  EXPECT_EQ(told(0), "go");
  EXPECT_THAT(hosts_[0].supervisor->command(), HasSubstr("PODRUN_NUM_HOSTS=2;"));
  EXPECT_FALSE(hosts_[1].opened);
  hosts_[0].supervisor->say(StreamEvents{link::Exited{0}, link::Closed{}});
  EXPECT_EQ(finish(), "ok, ok");
  EXPECT_THAT(hosts_[1].supervisor->command(), HasSubstr("PODRUN_RANK=1; export PODRUN_WORKER=1;"));
}

TEST_F(FanOutTest, ShowsWhatIsPrintedAroundTheHello) {
  set_up(1);
  hosts_[0].noise = "welcome\nto";
  hosts_[0].output = "first";
  hosts_[0].answers["go"] = {out(" line\n"), err("oops\n"), out("last"), link::Exited{3}, link::Closed{}};
  EXPECT_EQ(run(), "exit 3");
  const std::vector<std::string> all = lines();
  EXPECT_THAT(all, testing::UnorderedElementsAre("0 out: welcome", "0 out: tofirst line", "0 out: last",
                                                 "0 err: oops"));
}

TEST_F(FanOutTest, TakesOutputAfterTheExit) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{0}, out("of a child\n"), link::Closed{}};
  EXPECT_EQ(run(), "ok");
  EXPECT_THAT(lines(), ElementsAre("0 out: of a child"));
}

TEST_F(FanOutTest, TellsTheExitOfEveryHost) {
  set_up(4);
  hosts_[1].answers["go"] = {link::Exited{3}, link::Closed{}};
  hosts_[2].answers["go"] = {link::Signaled{SIGKILL}, link::Closed{}};
  hosts_[3].answers["go"] = {link::Exited{130}, link::Closed{}};
  EXPECT_EQ(run(), "ok, exit 3, killed by SIGKILL, exit 130 (SIGINT)");
  EXPECT_EQ(status(), 137);
}

TEST_F(FanOutTest, StopsTheOthersWhenAHostIsLostAtTheVeryStart) {
  set_up(2);
  hosts_[0].answers["go"] = {link::Failure{link::Stage::running, link::Cause::reset}};
  hosts_[1].answers["go"] = {};
  EXPECT_EQ(run(), "lost: running: connection reset, stopped by podrun");
  EXPECT_EQ(told(1), "go, end of input");
  EXPECT_EQ(status(), 255);
}

TEST_F(FanOutTest, LetsTheOthersRunWhenAHostThatSpokeIsLost) {
  set_up(2);
  hosts_[0].answers["go"] = {out("hi\n"), link::Failure{link::Stage::running, link::Cause::reset}};
  EXPECT_EQ(run(), "lost: running: connection reset, ok");
  EXPECT_EQ(told(1), "go");
}

TEST_F(FanOutTest, TakesNoiseForNoSignOfAStart) {
  set_up(2);
  hosts_[0].noise = "welcome\n";
  hosts_[0].answers["go"] = {link::Failure{link::Stage::running, link::Cause::reset}};
  hosts_[1].answers["go"] = {};
  EXPECT_EQ(run(), "lost: running: connection reset, stopped by podrun");
}

TEST_F(FanOutTest, TakesAFailureAfterTheExitForTheEnd) {
  set_up(1);
  hosts_[0].answers["go"] = {link::Exited{4}, link::Failure{link::Stage::running, link::Cause::reset}};
  EXPECT_EQ(run(), "exit 4");
}

TEST_F(FanOutTest, PutsTheFilesThereBeforeAHostIsReady) {
  set_up(1);
  const std::string content(100'000, 'x');
  plan_.command.files = {{"command", content}};
  EXPECT_EQ(run(), "ok");
  EXPECT_EQ(hosts_[0].programs.at(1).arguments.at(2), "/run/command");
  EXPECT_TRUE(hosts_[0].feeder->written() == content);
}

TEST_F(FanOutTest, StartsNothingWhenAFileCannotBePutThere) {
  set_up(2);
  plan_.command.files = {{"command", "text"}};
  hosts_[1].feeder_end = {err("tee: /run/command: No space left on device\n"), link::Exited{1},
                          link::Closed{}};
  EXPECT_EQ(run(),
            "not started, unreachable: sending command: tee: /run/command: No space left on device (exit 1)");
}

TEST_F(FanOutTest, PrintsATraceWithVerbose) {
  set_up(1);
  plan_.verbosity = 1;
  hosts_[0].answers["go"] = {link::Exited{1}, link::Closed{}};
  run();
  EXPECT_EQ(said(), "podrun: [0] tpu-0: connecting\npodrun: [0] tpu-0: ready\npodrun: [0] tpu-0: exit 1\n");
}

TEST_F(FanOutTest, PrintsNoTraceWithoutVerbose) {
  set_up(2);
  hosts_[1].refuses = link::Failure{link::Stage::connecting, link::Cause::unreachable, "no route"};
  run();
  EXPECT_EQ(said(), "");
}

}  // namespace
}  // namespace podrun::run
