// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/json_events.hpp"

#include <csignal>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace podrun::report {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr output::WallTime kTime{1'795'268'522'123ms};

hosts::Host host(std::size_t worker, const char* name) {
  hosts::Host host;
  host.worker = worker;
  host.name = name;
  return host;
}

std::string start(const decltype(supervisor::Command::what)& what) {
  supervisor::Command command;
  command.what = what;
  command.environment = {{"TOKEN", "secret"}};
  hosts::Host second = host(7, "tpu-7");
  second.user = "ubuntu";
  second.port = 2222;
  return start_event(kTime, {host(4, "tpu-4"), second}, {"5f2c", command});
}

/// The fields of an exit event, without the fields common to all events.
json exit_facts(const run::HostOutcome& outcome) {
  json event = json::parse(exit_event(kTime, host(7, "tpu-7"), outcome, 12'345ms));
  for (const char* common : {"v", "event", "time", "worker", "host", "seconds"}) event.erase(common);
  return event;
}

TEST(JsonEvents, HaveNoByteThatATerminalActsOn) {
  const std::string what =
      "\x1b[A \x7f \xc2\x9b"
      "A \xe2\x80\xae";
  const std::string event =
      exit_event(kTime, host(7, "tpu-7"), run::Lost{{link::Stage::running, link::Cause::other, what}}, 1ms);
  EXPECT_NE(event.find(R"("message":"\u001b[A \u007f \u009bA \u202e")"), std::string::npos) << event;
}

TEST(StartEvent, SaysWhatRunsWhere) {
  EXPECT_EQ(
      start(supervisor::Words{{"python", "train.py"}}),
      R"({"v":1,"event":"start","time":"2026-11-21T13:42:02.123Z","run_id":"5f2c",)"
      R"("command":["python","train.py"],)"
      R"("hosts":[{"worker":4,"host":"tpu-4"},{"worker":7,"host":"tpu-7","user":"ubuntu","port":2222}]})");
}

TEST(StartEvent, TellsTheKindsOfCommandApart) {
  const json shell = json::parse(start(supervisor::ShellText{"cd app && git pull"}));
  EXPECT_EQ(shell["shell"], "cd app && git pull");
  EXPECT_FALSE(shell.contains("command"));
  const json script = json::parse(start(supervisor::Script{"setup.sh", "#!/bin/sh\n", {"-v"}}));
  EXPECT_EQ(script["script"], "setup.sh");
  EXPECT_EQ(script["arguments"], json({"-v"}));
}

TEST(StartEvent, ShowsNoEnvironment) {
  EXPECT_EQ(start(supervisor::Words{{"a"}}).find("secret"), std::string::npos);
  EXPECT_EQ(json::parse(start(supervisor::ShellText{"TOKEN=secret python train.py"}))["shell"],
            "TOKEN=… python train.py");
}

TEST(StartEvent, CountsTheRestartsOfAJob) {
  const supervisor::Command command{.what = supervisor::Words{{"true"}}};
  EXPECT_EQ(start_event(kTime, {host(4, "tpu-4")},
                        {"5f2c", command, std::nullopt, TryNumber{.job_id = "b7d0", .restart = 2}}),
            R"({"v":1,"event":"start","time":"2026-11-21T13:42:02.123Z","run_id":"5f2c","job_id":"b7d0",)"
            R"("restart":2,"command":["true"],"hosts":[{"worker":4,"host":"tpu-4"}]})");
}

TEST(StartEvent, NamesTheJobInPlaceOfWhatItRuns) {
  const auto of_job = [](const supervisor::Command& command) {
    return json::parse(
        start_event(kTime, {host(4, "tpu-4")}, {.run_id = "5f2c", .command = command, .job = "train"}));
  };
  EXPECT_EQ(of_job({.what = supervisor::Words{}})["job"], "train");
  EXPECT_FALSE(of_job({.what = supervisor::Words{}}).contains("command"));
  EXPECT_EQ(of_job({.what = supervisor::Words{{"true"}}})["command"], json({"true"}));
}

TEST(StartEvent, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(json::parse(start(supervisor::Words{{"a\xff"}}))["command"], json({"a\ufffd"}));
}

TEST(OutputOpenEvent, NamesTheProcesses) {
  const supervisor::Holders holders{{{"4711", "sleep"}, {"99999999999999999999", "a\xff"}}, 2};
  EXPECT_EQ(output_open_event(kTime, host(7, "tpu-7"), holders, true, 2'345ms),
            R"({"v":1,"event":"output_open","time":"2026-11-21T13:42:02.123Z","worker":7,"host":"tpu-7",)"
            R"("processes":[{"pid":4711,"name":"sleep"},{"pid":0,"name":"a\ufffd"}],"more":2,"waits":true,)"
            R"("seconds":2.345})");
  const json unknown = json::parse(output_open_event(kTime, host(7, "tpu-7"), {}, false, 0ms));
  EXPECT_EQ(unknown["processes"], json::array());
  EXPECT_EQ(unknown["waits"], false);
  EXPECT_FALSE(unknown.contains("more"));
}

TEST(ExitEvent, SaysWhoAndWhen) {
  EXPECT_EQ(exit_event(kTime, host(7, "tpu-7"), link::Exited{3}, 12'345ms),
            R"({"v":1,"event":"exit","time":"2026-11-21T13:42:02.123Z","worker":7,"host":"tpu-7",)"
            R"("outcome":"exited","status":3,"seconds":12.345})");
}

TEST(ExitEvent, HasAWordForEveryEnd) {
  EXPECT_EQ(exit_facts(run::NotStarted{}), json({{"outcome", "not_started"}}));
  EXPECT_EQ(exit_facts(link::Exited{0}), json({{"outcome", "exited"}, {"status", 0}}));
  EXPECT_EQ(exit_facts(link::Signaled{SIGKILL}), json({{"outcome", "signaled"}, {"signal", 9}}));
  EXPECT_EQ(exit_facts(run::TimedOut{90s}), json({{"outcome", "timed_out"}, {"limit_seconds", 90}}));
  EXPECT_EQ(exit_facts(run::TimedOut{1500ms}), json({{"outcome", "timed_out"}, {"limit_seconds", 1.5}}));
  EXPECT_EQ(exit_facts(run::Lost{{.stage = link::Stage::running,
                                  .cause = link::Cause::no_answer,
                                  .after = std::chrono::seconds(45)}}),
            json({{"outcome", "lost"},
                  {"stage", "running"},
                  {"cause", "no_answer"},
                  {"message", "no answer for 45 s"}}));
  EXPECT_EQ(exit_facts(run::Unreachable{{link::Stage::none, link::Cause::refused}, 3}),
            json({{"outcome", "unreachable"},
                  {"cause", "refused"},
                  {"message", "connection refused"},
                  {"attempts", 3}}));
  const link::Failure of_jump_host{
      .stage = link::Stage::login, .cause = link::Cause::permission_denied, .jump_hosts = {"inner", "outer"}};
  EXPECT_EQ(exit_facts(run::Unreachable{of_jump_host}), json({{"outcome", "unreachable"},
                                                              {"stage", "login"},
                                                              {"jump_host", "outer"},
                                                              {"cause", "permission_denied"},
                                                              {"message", "permission denied"},
                                                              {"attempts", 1}}));
  EXPECT_EQ(exit_facts(run::Stopped{}), json({{"outcome", "stopped"}}));
}

TEST(SummaryEvent, SaysHowEveryHostEnded) {
  const std::vector<hosts::Host> hosts = {host(2, "a"), host(3, "b"), host(5, "c"), host(7, "d"),
                                          host(8, "e")};
  const RunEnd end{
      {link::Exited{0}, run::Stopped{}, link::Exited{1}, link::Signaled{SIGKILL}, link::Exited{0}},
      137,
      3,
      std::nullopt};
  EXPECT_EQ(
      summary_event(kTime, hosts, end, 61'500ms),
      R"({"v":1,"event":"summary","time":"2026-11-21T13:42:02.123Z","status":137,)"
      R"("counts":{"not_started":0,"exited":3,"signaled":1,"timed_out":0,"stalled":0,"lost":0,"unreachable":0,"stopped":1},)"
      R"("ok":[2,8],"failed":[5,7],"culprit":7,"seconds":61.5})");
}

TEST(SummaryEvent, SaysWhatInterruptedTheRun) {
  const RunEnd end{{run::Stopped{}}, 130, std::nullopt, SIGINT};
  const json event = json::parse(summary_event(kTime, {host(0, "a")}, end, 0ms));
  EXPECT_EQ(event["interrupted_by"], SIGINT);
  EXPECT_FALSE(event.contains("culprit"));
  EXPECT_EQ(event["ok"], json::array());
}

TEST(SummaryEvent, SaysThatAnotherTryMayFollow) {
  RunEnd end{{link::Exited{1}}, 1, std::nullopt, std::nullopt};
  EXPECT_FALSE(json::parse(summary_event(kTime, {host(0, "a")}, end, 0ms)).contains("final"));
  end.is_final = false;
  EXPECT_EQ(json::parse(summary_event(kTime, {host(0, "a")}, end, 0ms))["final"], false);
}

}  // namespace
}  // namespace podrun::report
