// SPDX-License-Identifier: Apache-2.0
#include "podrun/restarts/restart_report.hpp"

#include <csignal>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "unit/restarts/tries.hpp"

namespace podrun::restarts {
namespace {

using namespace std::chrono_literals;
using test::exited;
using test::kReady;
using Lines = std::vector<std::string>;

constexpr output::WallTime kTime{1'795'268'522'123ms};
constexpr std::size_t kReasons = static_cast<std::size_t>(OverReason::timed_out) + 1;
constexpr std::size_t kCauses = static_cast<std::size_t>(RestartCause::replaced) + 1;

const std::vector<hosts::Host> kHosts = {
    {.worker = 4, .name = "tpu-4"}, {.worker = 5, .name = "tpu-5"}, {.worker = 17, .name = "tpu-17"}};

/// The third host was lost; a failure of the first one was seen first.
TryReport lost_report() {
  return {
      .outcomes = {exited(1), run::Stopped{}, test::lost()}, .culprit = 0, .hosts = {kReady, kReady, kReady}};
}

/// The third host does not answer.
Awaited missing(link::Cause cause = link::Cause::timed_out, std::size_t host = 2) {
  link::Failure failure{.stage = link::Stage::connecting, .cause = cause};
  if (cause == link::Cause::timed_out) failure.after = std::chrono::seconds(10);
  return {.host = host, .outcome = run::Unreachable{failure}};
}
Awaited busy(std::vector<Obstacle> obstacles, std::size_t host = 1) {
  return {.host = host, .outcome = exited(0), .obstacles = std::move(obstacles)};
}

std::string end_words(OverReason reason, const RestartLimits& limits, const TryReport& report = {},
                      const std::vector<Awaited>& awaited = {}) {
  return describe_end(reason, RestartPolicy(limits, {}), kHosts, report, awaited);
}

std::set<std::string> documented(const char* event, const char* field) {
  std::ifstream file(PODRUN_DOCS "/json-schema.json");
  return nlohmann::json::parse(file)["$defs"][event]["properties"][field]["enum"];
}

TEST(RestartWords, HaveAnIdentifierForEveryReason) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kReasons; ++i) names.emplace(identifier(static_cast<OverReason>(i)));
  EXPECT_EQ(names.size(), kReasons);
  EXPECT_EQ(names, documented("over", "reason"));
}

TEST(RestartWords, HaveAnIdentifierForEveryCause) {
  std::set<std::string> names;
  for (std::size_t i = 1; i < kCauses; ++i) names.emplace(identifier(static_cast<RestartCause>(i)));
  EXPECT_EQ(names.size(), kCauses - 1);
  EXPECT_EQ(names, documented("restart", "cause"));
  EXPECT_EQ(identifier(RestartCause::none), "");
}

TEST(RestartWords, NameTheHostsOfACause) {
  using Hosts = std::vector<std::size_t>;
  TryReport report = lost_report();
  EXPECT_EQ(hosts_of(RestartCause::exit, report), (Hosts{0, 2}));
  EXPECT_EQ(hosts_of(RestartCause::lost, report), Hosts{2});
  report.missing = {1};
  EXPECT_EQ(hosts_of(RestartCause::lost, report), (Hosts{1, 2}));
  report.hosts[1] = test::kRebooted;
  report.hosts[2] = test::kReplaced;
  EXPECT_EQ(hosts_of(RestartCause::rebooted, report), (Hosts{1, 2}));
  EXPECT_EQ(hosts_of(RestartCause::replaced, report), Hosts{2});
}

TEST(RestartWords, BlameMemoryOnlyWhereTheCommandWasKilled) {
  const TryReport report{.outcomes = {exited(137), run::Stopped{}, exited(137)},
                         .culprit = 0,
                         .hosts = {test::kOutOfMemory, test::kOutOfMemory, kReady}};
  EXPECT_EQ(hosts_of(RestartCause::oom, report), std::vector<std::size_t>{0});
  EXPECT_EQ(describe_cause(kHosts, RestartCause::oom, report), "[4] out of memory");
}

TEST(RestartWords, TellWhoIsAwaitedAndWhy) {
  EXPECT_EQ(describe_waiting(kHosts, {missing()}),
            Lines{"waiting for [17]: unreachable: connecting: timed out after 10 s"});
  EXPECT_EQ(describe_waiting(kHosts, {missing(link::Cause::refused, 0), missing(link::Cause::refused, 1)}),
            Lines{"waiting for [4,5]: unreachable: connecting: connection refused"});
  EXPECT_EQ(describe_waiting(kHosts, {{.host = 0, .outcome = exited(0)}}),
            Lines{"waiting for [4]: no whole answer"});
  EXPECT_EQ(describe_awaited(kHosts, {missing(link::Cause::refused, 0), missing()}), "waiting for [4,17]");
}

TEST(RestartWords, TellHowAChangedKeyIsForgotten) {
  const Lines lines = {"waiting for [17]: its host key has changed",
                       "if [17] was recreated: podrun --workers 17 hosts --forget-keys"};
  EXPECT_EQ(describe_waiting(kHosts, {missing(link::Cause::host_key_changed)}), lines);
}

TEST(RestartWords, NameWhatIsInTheWay) {
  const Obstacle left{.pid = 4711, .name = "python3", .state = 'D', .is_left = true, .device = "/dev/accel0"};
  EXPECT_EQ(
      describe_waiting(kHosts, {busy({left})}),
      Lines{"waiting for [5]: pid 4711 (python3) does not end (uninterruptible) and holds /dev/accel0"});
  EXPECT_EQ(describe_waiting(kHosts, {busy({{.pid = 7, .name = "sh", .state = 'S', .is_left = true}})}),
            Lines{"waiting for [5]: pid 7 (sh) does not end"});
  const Obstacle foreign{.pid = 12, .name = "python3", .device = "/dev/accel0"};
  EXPECT_EQ(describe_waiting(kHosts, {busy({foreign})}),
            Lines{"waiting for [5]: pid 12 (python3) holds /dev/accel0; podrun kill frees it"});
  EXPECT_EQ(describe_waiting(kHosts, {busy({foreign, left, left})}),
            Lines{"waiting for [5]: pid 12 (python3) holds /dev/accel0 and 2 more"});
}

TEST(RestartWords, EscapeWhatAHostSays) {
  EXPECT_EQ(describe_waiting(kHosts, {busy({{.pid = 12, .name = "a\x1b[2J\xff", .device = "/dev/\x1b"}})}),
            Lines{R"(waiting for [5]: pid 12 (a\x1b[2J\xff) holds /dev/\x1b; podrun kill frees it)"});
}

TEST(RestartWords, TellTheCauseThatTheReportOfTheTryHasNot) {
  TryReport report = lost_report();
  for (const RestartCause cause : {RestartCause::exit, RestartCause::signal, RestartCause::stalled})
    EXPECT_EQ(describe_cause(kHosts, cause, report), "");
  EXPECT_EQ(describe_cause(kHosts, RestartCause::lost, report),
            "[17] out of reach for a time: a lost host, not counted (first seen: exit 1 [4])");
  report.hosts[2] = test::kRebooted;
  EXPECT_EQ(describe_cause(kHosts, RestartCause::rebooted, report),
            "[17] rebooted: a lost host, not counted (first seen: exit 1 [4])");
  report.culprit = 2;
  EXPECT_EQ(describe_cause(kHosts, RestartCause::rebooted, report),
            "[17] rebooted: a lost host, not counted");
  report.hosts[2] = test::kReplaced;
  report.culprit.reset();
  EXPECT_EQ(describe_cause(kHosts, RestartCause::replaced, report),
            "[17] replaced by another machine: a lost host, not counted");
}

TEST(RestartWords, TellWhenItStartsAgain) {
  test::Tries tries({.restarts = 3});
  tries.fails_and_starts(10min);
  tries.fails(10min);
  EXPECT_EQ(describe_restart(tries.policy(), 20s), "starting again in 20 s: try 3, 1 of 3 restarts left");
  EXPECT_EQ(describe_restart(tries.policy(), 0s), "starting again: try 3, 1 of 3 restarts left");
  test::Tries one({.restarts = 1});
  one.fails(10min);
  EXPECT_EQ(describe_restart(one.policy(), 10s), "starting again in 10 s: try 2, 0 of 1 restart left");
}

TEST(RestartWords, TellWhyItDoesNotStartAgain) {
  const TryReport report = lost_report();
  EXPECT_EQ(end_words(OverReason::finished, {}), "");
  EXPECT_EQ(end_words(OverReason::interrupted, {}), "");
  EXPECT_EQ(end_words(OverReason::first_try, {}, report),
            "not started again: it has never run for 1 min (--short-try)");
  EXPECT_EQ(end_words(OverReason::first_try, {}), "") << "nothing has started";
  EXPECT_EQ(end_words(OverReason::crash_loop, {.short_try = 30s}),
            "not started again: 3 tries in a row failed within 30 s");
  EXPECT_EQ(end_words(OverReason::restarts, {.restarts = 3}),
            "not started again: it failed again after 3 restarts without a try of 1 h (--restarts 3)");
  EXPECT_EQ(end_words(OverReason::restarts, {.restarts = 1}),
            "not started again: it failed again after 1 restart without a try of 1 h (--restarts 1)");
  EXPECT_EQ(end_words(OverReason::restarts, {.restarts = 0}), "not started again: --restarts 0");
  EXPECT_EQ(end_words(OverReason::restarts, {.allowed = false}), "") << "nobody has asked for it";
  EXPECT_EQ(end_words(OverReason::final_status, {}), "not started again: its exit status is final (--final)");
  EXPECT_EQ(end_words(OverReason::losses, {}), "not started again: hosts were lost 10 times in an hour");
  EXPECT_EQ(end_words(OverReason::prepare, {}), "not started again: --prepare failed");
  EXPECT_EQ(end_words(OverReason::timed_out, {}), "not started again: --timeout is over");
}

TEST(RestartWords, TellWhoHasEndedWithSuccess) {
  TryReport report{.outcomes = {exited(0), exited(0), exited(134)}, .hosts = {kReady, kReady, kReady}};
  EXPECT_EQ(end_words(OverReason::partly_finished, {}, report),
            "not started again: [4,5] ended with exit 0: the command is done there");
  report.hosts[0] = test::kRebooted;
  EXPECT_EQ(end_words(OverReason::partly_finished, {}, report),
            "not started again: [5] ended with exit 0: the command is done there");
}

TEST(RestartWords, TellWhoWasAwaitedInVain) {
  EXPECT_EQ(end_words(OverReason::hosts_missing, {}, {}, {missing()}),
            "gave up after 1 h without [17] (--wait-hosts)");
  EXPECT_EQ(end_words(OverReason::hosts_missing, {.wait_hosts = 90s}),
            "gave up after 90 s in which it could not start (--wait-hosts)")
      << "the hosts were there, but took no command";
}

TEST(RestartEvents, TellOfARestart) {
  test::Tries tries({.restarts = 3});
  tries.fails_and_starts(10min);
  tries.ends({exited(1), run::Stopped{}}, 10min);
  tries.looks({kReady, test::kRebooted});
  TryReport report = lost_report();
  report.hosts[2] = test::kRebooted;
  EXPECT_EQ(restart_event(kTime, kHosts, tries.policy(), report, 5s),
            R"({"v":1,"event":"restart","time":"2026-11-21T13:42:02.123Z","restart":2,"cause":"rebooted",)"
            R"("workers":[17],"first":{"worker":4,"outcome":"exited","status":1},)"
            R"("counted":false,"left":2,"delay_seconds":5})");
}

TEST(RestartEvents, TellOfACountedRestart) {
  test::Tries tries({.restarts = 3});
  tries.fails(10min);
  const TryReport report{.outcomes = {exited(1), run::Stopped{}, run::Stopped{}},
                         .hosts = {kReady, kReady, kReady}};
  EXPECT_EQ(restart_event(kTime, kHosts, tries.policy(), report, 10s),
            R"({"v":1,"event":"restart","time":"2026-11-21T13:42:02.123Z","restart":1,"cause":"exit",)"
            R"("workers":[4],"counted":true,"left":2,"delay_seconds":10})");
}

TEST(RestartEvents, TellWhatPodrunWaitsFor) {
  EXPECT_EQ(waiting_event(kTime, kHosts, missing(), 3480s),
            R"({"v":1,"event":"waiting","time":"2026-11-21T13:42:02.123Z","worker":17,"host":"tpu-17",)"
            R"("for":"host","stage":"connecting","cause":"timed_out",)"
            R"("message":"unreachable: connecting: timed out after 10 s","left_seconds":3480})");
  EXPECT_EQ(waiting_event(kTime, kHosts, {.host = 0, .outcome = exited(0)}, std::nullopt),
            R"({"v":1,"event":"waiting","time":"2026-11-21T13:42:02.123Z","worker":4,"host":"tpu-4",)"
            R"("for":"host","message":"no whole answer"})");
  EXPECT_EQ(waiting_event(kTime, kHosts, busy({{.pid = 7, .name = "sh", .is_left = true}}), 60s),
            R"({"v":1,"event":"waiting","time":"2026-11-21T13:42:02.123Z","worker":5,"host":"tpu-5",)"
            R"("for":"process","message":"pid 7 (sh) does not end","left_seconds":60})");
  EXPECT_EQ(waiting_event(kTime, kHosts, busy({{.pid = 7, .name = "\x1b", .device = "/dev/accel0"}}), 60s),
            R"({"v":1,"event":"waiting","time":"2026-11-21T13:42:02.123Z","worker":5,"host":"tpu-5",)"
            R"("for":"device","message":"pid 7 (\\x1b) holds /dev/accel0; podrun kill frees it",)"
            R"("left_seconds":60})");
}

TEST(RestartEvents, TellOfTheEnd) {
  EXPECT_EQ(over_event(kTime, OverReason::crash_loop, 3, 1),
            R"({"v":1,"event":"over","time":"2026-11-21T13:42:02.123Z","reason":"crash_loop","tries":3,)"
            R"("status":1})");
}

}  // namespace
}  // namespace podrun::restarts
