// SPDX-License-Identifier: Apache-2.0
#include "podrun/python/cell_machine.hpp"

#include <chrono>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/worker_numbers.hpp"

namespace podrun::python {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Texts = std::vector<std::string>;
using Kind = CellReply::Kind;

struct Word {
  std::string of(std::string_view what, const CellHosts& hosts) const {
    return std::string(what) + " " + fold_workers(hosts);
  }
  std::string operator()(const action::SendCell& action) const { return of("send", action.hosts); }
  std::string operator()(const action::ShowReplies& action) const { return of("show", action.hosts); }
  std::string operator()(const action::TellRunning& action) const { return of("running", action.hosts); }
  std::string operator()(const action::AskPlaces& action) const { return of("ask", action.hosts); }
  std::string operator()(const action::TellPlaces& action) const { return of("places", action.hosts); }
  std::string operator()(const action::InterruptCell& action) const { return of("interrupt", action.hosts); }
  std::string operator()(const action::TellDeaf& action) const { return of("deaf", action.hosts); }
  std::string operator()(const action::EndAll& /*action*/) const { return "end"; }
  std::string operator()(const action::LeaveAtOnce& /*action*/) const { return "leave"; }
  std::string operator()(const action::AskForCell& /*action*/) const { return "prompt"; }
};

/// A machine with hosts that wait for a cell, and a clock.
class Cells : public testing::Test {
 protected:
  explicit Cells(std::size_t hosts = 8) : machine_(hosts) {
    for (std::size_t host = 0; host < hosts; ++host) EXPECT_THAT(on(event::Waits{host}), IsEmpty());
  }

  Texts on(const CellEvent& event) {
    Texts texts;
    for (const CellAction& action : machine_.on(event, now_)) texts.push_back(std::visit(Word(), action));
    return texts;
  }
  Texts enter() { return on(event::Entered{machine_.idle()}); }
  Texts end(std::size_t host, Kind kind = Kind::done) {
    return on(event::Replied{host, {.kind = kind, .text = "x"}});
  }
  Texts lose(std::size_t host) { return on(event::InterpreterGone{host}); }
  Texts press() { return on(event::Interrupt{}); }
  Texts place(std::size_t host) { return on(event::Place{host, "<cell 1>, line 1"}); }

  /// All that it does in this time.
  Texts pass(run::TimePoint::duration time) {
    const run::TimePoint end = now_ + time;
    Texts all;
    while (machine_.next_tick() && *machine_.next_tick() <= end) {
      now_ = *machine_.next_tick();
      for (std::string& text : on(event::CellTick{})) all.push_back(std::move(text));
    }
    now_ = end;
    return all;
  }

  CellMachine machine_;
  run::TimePoint now_;
};

TEST_F(Cells, AllReplyAndTheNextCellCanBeEntered) {
  EXPECT_THAT(enter(), ElementsAre("send 0-7"));
  for (std::size_t host = 0; host < 7; ++host) EXPECT_THAT(end(host, Kind::value), IsEmpty());
  EXPECT_THAT(end(7, Kind::value), ElementsAre("show 0-7", "prompt"));
  EXPECT_EQ(machine_.next_tick(), std::nullopt);
  EXPECT_THAT(enter(), ElementsAre("send 0-7"));
  EXPECT_FALSE(machine_.reply(0)) << "that of the cell before is forgotten";
}

TEST_F(Cells, OnlyTheChosenHostsGetACell) {
  EXPECT_THAT(on(event::Entered{{1, 3}}), ElementsAre("send 1,3"));
  end(3);
  EXPECT_THAT(end(1), ElementsAre("show 1,3", "prompt"));
}

TEST_F(Cells, ALongCellWithoutAnEndIsNormal) {
  enter();
  EXPECT_THAT(pass(2h), IsEmpty());
}

TEST_F(Cells, AnErrorIsShownWhileTheOthersRun) {
  enter();
  end(3, Kind::error);
  EXPECT_THAT(pass(400ms), IsEmpty());
  end(5, Kind::error);
  EXPECT_THAT(pass(200ms), ElementsAre("show 3,5"));
  EXPECT_THAT(pass(5s), ElementsAre("running 0-2,4,6,7"));
  end(0, Kind::exit);
  EXPECT_THAT(pass(1s), ElementsAre("show 0"));
  for (const std::size_t host : {1U, 2U, 4U, 6U}) end(host, Kind::value);
  EXPECT_THAT(end(7, Kind::value), ElementsAre("show 1,2,4,6,7", "prompt")) << "errors are shown once";
}

TEST_F(Cells, WhereTheOthersHangIsAskedOnceAfterAnError) {
  enter();
  end(3, Kind::error);
  EXPECT_THAT(pass(9s), ElementsAre("show 3", "running 0-2,4-7"));
  EXPECT_THAT(pass(1s), ElementsAre("ask 0-2,4-7"));
  for (const std::size_t host : {0U, 1U, 2U, 4U, 5U, 6U}) EXPECT_THAT(place(host), IsEmpty());
  EXPECT_THAT(place(7), ElementsAre("places 0-2,4-7"));
  EXPECT_THAT(pass(1h), IsEmpty());
}

TEST_F(Cells, AHostThatDoesNotSayWhereItIsHoldsUpTheOthersForASecond) {
  enter();
  lose(3);
  EXPECT_THAT(pass(10s), ElementsAre("running 0-2,4-7", "ask 0-2,4-7"));
  place(0);
  place(6);
  EXPECT_THAT(pass(1s), ElementsAre("places 0,6"));
}

TEST_F(Cells, ALostHostGetsNoCellAnyMore) {
  enter();
  for (std::size_t host = 0; host < 7; ++host) end(host);
  EXPECT_THAT(lose(7), ElementsAre("show 0-6", "prompt"));
  EXPECT_THAT(lose(0), IsEmpty()) << "at the prompt";
  EXPECT_THAT(enter(), ElementsAre("send 1-6"));
}

TEST_F(Cells, WithoutAnInterpreterNothingRuns) {
  for (std::size_t host = 0; host < 8; ++host) lose(host);
  EXPECT_THAT(enter(), ElementsAre("prompt"));
}

TEST_F(Cells, CtrlCAtThePromptIsNothing) { EXPECT_THAT(press(), IsEmpty()); }

TEST_F(Cells, CtrlCInterruptsThoseThatRun) {
  enter();
  end(2);
  EXPECT_THAT(press(), ElementsAre("interrupt 0,1,3-7"));
  for (const std::size_t host : {0U, 1U, 3U, 4U, 5U, 6U}) end(host, Kind::error);
  EXPECT_THAT(end(7, Kind::error), ElementsAre("show 0-7", "prompt"));
  EXPECT_EQ(machine_.next_tick(), std::nullopt);
}

TEST_F(Cells, WhoDoesNotReactIsSaidAndThenTheNextPressEndsAll) {
  enter();
  press();
  EXPECT_THAT(pass(1900ms), IsEmpty());
  EXPECT_THAT(press(), ElementsAre("interrupt 0-7")) << "the cell may have taken the first one";
  for (std::size_t host = 0; host < 6; ++host) end(host, Kind::error);
  EXPECT_THAT(pass(2s), ElementsAre("show 0-5", "ask 6,7"));
  place(6);
  EXPECT_THAT(place(7), ElementsAre("places 6,7", "deaf 6,7"));
  EXPECT_THAT(press(), ElementsAre("interrupt 6,7")) << "pressed before it was read";
  now_ += 999ms;
  EXPECT_THAT(press(), ElementsAre("interrupt 6,7"));
  now_ += 1ms;
  EXPECT_THAT(press(), ElementsAre("end"));
  EXPECT_THAT(press(), ElementsAre("leave"));
  lose(6);
  for (std::size_t host = 0; host < 6; ++host) lose(host);
  EXPECT_THAT(lose(7), ElementsAre("prompt"));
  EXPECT_THAT(machine_.idle(), IsEmpty());
}

TEST_F(Cells, AfterTheWordsOfOneCellTheNextOneCanBeInterruptedAgain) {
  enter();
  press();
  pass(3s);
  for (std::size_t host = 0; host < 8; ++host) end(host, Kind::error);
  pass(1h);
  enter();
  EXPECT_THAT(press(), ElementsAre("interrupt 0-7"));
}

TEST_F(Cells, WordsAboutACellAreForgottenWhenItHasEnded) {
  enter();
  press();
  EXPECT_THAT(pass(3s), ElementsAre("ask 0-7", "deaf 0-7"));
  for (std::size_t host = 0; host < 8; ++host) end(host);
  pass(5s);
  EXPECT_THAT(press(), IsEmpty()) << "at the prompt";

  enter();
  press();
  EXPECT_THAT(pass(2s), ElementsAre("ask 0-7"));
  for (std::size_t host = 0; host < 8; ++host) end(host);
  enter();
  on(event::Quit{});
  EXPECT_THAT(pass(1s), IsEmpty()) << "nobody has pressed Ctrl-C in this cell";
}

TEST_F(Cells, QuitAsksWhereTheyAre) {
  EXPECT_THAT(on(event::Quit{}), IsEmpty());
  enter();
  end(0);
  EXPECT_THAT(on(event::Quit{}), ElementsAre("ask 1-7"));
  place(1);
  EXPECT_THAT(pass(1s), ElementsAre("places 1"));
  EXPECT_THAT(on(event::Quit{}), ElementsAre("ask 1-7")) << "each time anew";
  EXPECT_EQ(machine_.place(1), "");
}

/// Whatever comes in whatever order: a cell goes to hosts that wait for one, each reply is shown once, and
/// the prompt comes when none runs.
TEST(CellMachine, EveryOrderOfEvents) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const auto upto = [&](std::size_t most) {
      return std::uniform_int_distribution<std::size_t>(0, most)(random);
    };
    CellMachine machine(3);
    run::TimePoint now{};
    enum class Is { starting, idle, runs, gone };
    std::vector<Is> hosts(3, Is::starting);
    std::vector<bool> to_be_shown(3, false);
    bool is_prompt = true;
    for (int step = 0; step < 60; ++step) {
      const std::size_t host = upto(2);
      CellEvent event = event::CellTick{};
      switch (upto(7)) {
        case 0:
          if (hosts[host] != Is::starting) continue;
          event = event::Waits{host};
          hosts[host] = Is::idle;
          break;
        case 1:
          if (!is_prompt) continue;
          event = event::Entered{{0, 1, 2}};
          is_prompt = false;
          break;
        case 2:
        case 3:
          if (hosts[host] != Is::runs) continue;
          event = event::Replied{host, {.kind = static_cast<Kind>(upto(3))}};
          hosts[host] = Is::idle;
          to_be_shown[host] = true;
          break;
        case 4:
          if (hosts[host] == Is::gone || upto(3) != 0) continue;
          event = event::InterpreterGone{host};
          hosts[host] = Is::gone;
          break;
        case 5:
          event = event::Interrupt{};
          break;
        case 6:
          if (upto(1) == 0)
            event = event::Quit{};
          else
            event = event::Place{host, "x"};
          break;
        default:
          now += std::chrono::milliseconds(upto(4000));
      }
      for (const CellAction& action : machine.on(event, now)) {
        if (const auto* send = std::get_if<action::SendCell>(&action)) {
          for (const std::size_t to : send->hosts) {
            ASSERT_EQ(hosts[to], Is::idle) << seed;
            hosts[to] = Is::runs;
          }
        } else if (const auto* shown = std::get_if<action::ShowReplies>(&action)) {
          for (const std::size_t of : shown->hosts) {
            ASSERT_TRUE(to_be_shown[of]) << seed;
            to_be_shown[of] = false;
          }
        } else if (std::holds_alternative<action::AskForCell>(action)) {
          ASSERT_THAT(hosts, testing::Not(testing::Contains(Is::runs))) << seed;
          ASSERT_THAT(to_be_shown, testing::Each(false)) << seed;
          is_prompt = true;
        }
      }
      const bool runs = std::ranges::find(hosts, Is::runs) != hosts.end();
      ASSERT_NE(is_prompt, runs) << seed;
    }
  }
}

}  // namespace
}  // namespace podrun::python
