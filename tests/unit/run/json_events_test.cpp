// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/json_events.hpp"

#include <csignal>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace podrun {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr WallTime kTime{1'795'268'522'123ms};

Host host(std::size_t label, const char* name) {
  Host host;
  host.label = label;
  host.name = name;
  return host;
}

std::string start(const decltype(Command::what)& what) {
  Command command;
  command.what = what;
  command.environment = {{"TOKEN", "secret"}};
  Host second = host(7, "tpu-7");
  second.user = "ubuntu";
  second.port = 2222;
  return start_event(kTime, "5f2c", command, {host(4, "tpu-4"), second});
}

/// What the exit event says beyond what every one does.
json exit_facts(const HostOutcome& outcome) {
  json event = json::parse(exit_event(kTime, host(7, "tpu-7"), outcome, 12'345ms));
  for (const char* common : {"v", "event", "time", "rank", "host", "seconds"}) event.erase(common);
  return event;
}

TEST(JsonEvents, HaveNoByteThatATerminalActsOn) {
  const std::string what =
      "\x1b[A \x7f \xc2\x9b"
      "A \xe2\x80\xae";
  const std::string event = exit_event(kTime, host(7, "tpu-7"), Lost{{"running", what}}, 1ms);
  EXPECT_NE(event.find(R"("message":"\u001b[A \u007f \u009bA \u202e")"), std::string::npos) << event;
}

TEST(StartEvent, SaysWhatRunsWhere) {
  EXPECT_EQ(start(Words{{"python", "train.py"}}),
            R"({"v":1,"event":"start","time":"2026-11-21T13:42:02.123Z","run_id":"5f2c",)"
            R"("command":["python","train.py"],)"
            R"("hosts":[{"rank":4,"host":"tpu-4"},{"rank":7,"host":"tpu-7","user":"ubuntu","port":2222}]})");
}

TEST(StartEvent, TellsTheKindsOfCommandApart) {
  const json shell = json::parse(start(ShellText{"cd app && git pull"}));
  EXPECT_EQ(shell["shell"], "cd app && git pull");
  EXPECT_FALSE(shell.contains("command"));
  const json script = json::parse(start(Script{"setup.sh", "#!/bin/sh\n", {"-v"}}));
  EXPECT_EQ(script["script"], "setup.sh");
  EXPECT_EQ(script["arguments"], json({"-v"}));
}

TEST(StartEvent, ShowsNoEnvironment) {
  EXPECT_EQ(start(Words{{"a"}}).find("secret"), std::string::npos);
  EXPECT_EQ(json::parse(start(ShellText{"TOKEN=secret python train.py"}))["shell"],
            "TOKEN=… python train.py");
}

TEST(StartEvent, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(json::parse(start(Words{{"a\xff"}}))["command"], json({"a\ufffd"}));
}

TEST(ExitEvent, SaysWhoAndWhen) {
  EXPECT_EQ(exit_event(kTime, host(7, "tpu-7"), Exited{3}, 12'345ms),
            R"({"v":1,"event":"exit","time":"2026-11-21T13:42:02.123Z","rank":7,"host":"tpu-7",)"
            R"("outcome":"exited","status":3,"seconds":12.345})");
}

TEST(ExitEvent, HasAWordForEveryEnd) {
  EXPECT_EQ(exit_facts(NotStarted{}), json({{"outcome", "not_started"}}));
  EXPECT_EQ(exit_facts(Exited{0}), json({{"outcome", "exited"}, {"status", 0}}));
  EXPECT_EQ(exit_facts(Signaled{SIGKILL}), json({{"outcome", "signaled"}, {"signal", 9}}));
  EXPECT_EQ(exit_facts(TimedOut{90s}), json({{"outcome", "timed_out"}, {"limit_seconds", 90}}));
  EXPECT_EQ(exit_facts(Lost{{"running", "no answer for 45 s"}}),
            json({{"outcome", "lost"}, {"stage", "running"}, {"message", "no answer for 45 s"}}));
  EXPECT_EQ(exit_facts(Unreachable{{"", "connection refused"}, 3}),
            json({{"outcome", "unreachable"}, {"message", "connection refused"}, {"attempts", 3}}));
  EXPECT_EQ(exit_facts(Stopped{}), json({{"outcome", "stopped"}}));
}

TEST(SummaryEvent, SaysHowEveryHostEnded) {
  const std::vector<Host> hosts = {host(2, "a"), host(3, "b"), host(5, "c"), host(7, "d"), host(8, "e")};
  const RunEnd end{{Exited{0}, Stopped{}, Exited{1}, Signaled{SIGKILL}, Exited{0}}, 137, 3, std::nullopt};
  EXPECT_EQ(
      summary_event(kTime, hosts, end, 61'500ms),
      R"({"v":1,"event":"summary","time":"2026-11-21T13:42:02.123Z","status":137,)"
      R"("counts":{"not_started":0,"exited":3,"signaled":1,"timed_out":0,"lost":0,"unreachable":0,"stopped":1},)"
      R"("ok":[2,8],"failed":[5,7],"culprit":7,"seconds":61.5})");
}

TEST(SummaryEvent, SaysWhatInterruptedTheRun) {
  const RunEnd end{{Stopped{}}, 130, std::nullopt, SIGINT};
  const json event = json::parse(summary_event(kTime, {host(0, "a")}, end, 0ms));
  EXPECT_EQ(event["interrupted_by"], SIGINT);
  EXPECT_FALSE(event.contains("culprit"));
  EXPECT_EQ(event["ok"], json::array());
}

}  // namespace
}  // namespace podrun
