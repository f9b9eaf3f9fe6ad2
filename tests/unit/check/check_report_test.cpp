// SPDX-License-Identifier: Apache-2.0
#include "podrun/check/check_report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"

namespace podrun::check {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

constexpr std::uint64_t kGib = 1ULL << 30;

class CheckReportTest : public testing::Test {
 protected:
  void set_up(std::size_t count) {
    hosts_.resize(count);
    checked_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      hosts_[i].worker = i;
      hosts_[i].name = fmt::format("tpu-{}", i);
      checked_[i] = {link::Exited{0}, healthy(), ClockOffset{2ms, 10ms}};
    }
  }

  static HostFacts healthy() {
    HostFacts facts;
    facts.has_begun = facts.is_complete = true;
    facts.memory_total = 400 * kGib;
    facts.memory_available = 391 * kGib;
    facts.disks = {{"root", "/", 97 * kGib, 57 * kGib}, {"tmp", "/", 97 * kGib, 57 * kGib}};
    facts.devices = {
        {"TPU", "/dev/accel0"}, {"TPU", "/dev/accel1"}, {"TPU", "/dev/accel2"}, {"TPU", "/dev/accel3"}};
    facts.pci = {"0x0042", "0x005e"};
    facts.values = {{"kernel", "6.1.0 x86_64"},   {"open_files", "1048576"}, {"processes", "96365"},
                    {"locked_memory", "8388608"}, {"python", "3.10.12"},     {"jax", "0.4.35"}};
    return facts;
  }

  HostFacts& facts(std::size_t host) { return checked_[host].facts; }
  void set_value(std::size_t host, const std::string& name, const std::string& value) {
    facts(host).values[name] = value;
  }
  void lose(std::size_t host, run::HostOutcome outcome) { checked_[host] = {std::move(outcome)}; }

  CheckReport compare() const { return compare_hosts(checked_, request_); }
  Texts text() const { return describe_check(hosts_, compare(), " - "); }
  std::string last() const { return text().back(); }

  std::vector<hosts::Host> hosts_;
  std::vector<CheckedHost> checked_;
  CheckRequest request_;
};

TEST_F(CheckReportTest, IsShortAndCalmWhenAllIsWell) {
  set_up(64);
  EXPECT_TRUE(compare().is_well());
  EXPECT_THAT(text(),
              ElementsAre("64 hosts agree on:", "  kernel 6.1.0 x86_64 - memory 400 GiB", "  4 TPU v4",
                          "  open files 1048576 - processes 96365 - locked memory 8 MiB",
                          "  python 3.10.12 - jax 0.4.35",
                          "  clock within 0.1 s - memory 391 GiB available - disk / 57 GiB free",
                          "all 64 hosts are fine, and alike"));
}

TEST_F(CheckReportTest, DescribesASingleHost) {
  set_up(1);
  EXPECT_EQ(text().front(), "1 host has:");
  EXPECT_EQ(last(), "the host is fine");
  lose(0, run::Unreachable{{link::Stage::connecting, link::Cause::refused}});
  EXPECT_THAT(text(), ElementsAre("problem:", "  [0] tpu-0: unreachable: connecting: connection refused",
                                  "the host has a problem"));
}

TEST_F(CheckReportTest, NamesTheHostsThatDiffer) {
  set_up(32);
  set_value(31, "jax", "0.4.33");
  set_value(7, "torch", "2.1.0+cpu");
  EXPECT_FALSE(compare().is_well());
  EXPECT_THAT(text(), Contains("  [0-30] jax 0.4.35 - [31] jax 0.4.33"));
  EXPECT_THAT(text(), Contains("  [0-6,8-31] no torch - [7] torch 2.1.0+cpu"));
  EXPECT_THAT(text(), Contains("  python 3.10.12"));
  EXPECT_EQ(last(), "the hosts differ: jax, torch");
}

TEST_F(CheckReportTest, DescribesAHostWithAnotherImageOnOneLine) {
  set_up(8);
  set_value(3, "kernel", "5.15 x86_64");
  set_value(3, "python", "3.8");
  facts(3).values.erase("jax");
  EXPECT_THAT(text(), Contains("  [0-2,4-7] kernel 6.1.0 x86_64, python 3.10.12, jax 0.4.35"));
  EXPECT_THAT(text(), Contains("    [3] kernel 5.15 x86_64, python 3.8, no jax"));
}

TEST_F(CheckReportTest, CountsTheGroupsThatAreTooMany) {
  set_up(64);
  for (std::size_t host = 0; host < 64; ++host) set_value(host, "kernel", std::to_string(host));
  const std::string lines = join(text(), "\n");
  EXPECT_THAT(lines, HasSubstr("[7] kernel 7"));
  EXPECT_THAT(lines, HasSubstr("and 56 more"));
  EXPECT_THAT(lines, Not(HasSubstr("[8] kernel 8")));
}

TEST_F(CheckReportTest, BreaksLongLines) {
  set_up(2);
  set_value(0, "torch", std::string(60, 'a'));
  set_value(1, "torch", std::string(60, 'b'));
  EXPECT_THAT(text(), Contains("  [0] torch " + std::string(60, 'a')));
  EXPECT_THAT(text(), Contains("    [1] torch " + std::string(60, 'b')));
}

TEST_F(CheckReportTest, IgnoresSmallDifferencesInMemory) {
  set_up(3);
  *facts(1).memory_total -= 3 * kGib;
  EXPECT_TRUE(compare().is_well());
  facts(2).memory_total = 200 * kGib;
  EXPECT_THAT(text(), Contains("  [0,1] memory 400 GiB - [2] memory 200 GiB"));
}

TEST_F(CheckReportTest, CountsAccelerators) {
  set_up(4);
  facts(1).devices.pop_back();
  facts(2).devices.clear();
  EXPECT_THAT(text(), Contains("  [0,3] 4 TPU v4 - [1] 3 TPU v4 - [2] no accelerator"));
}

TEST_F(CheckReportTest, NamesGpusAsNvidiaSmiDoes) {
  set_up(2);
  for (const std::size_t host : {0U, 1U}) {
    facts(host).devices = {{"NVIDIA", "/dev/nvidia0"}, {"NVIDIA", "/dev/nvidia1"}};
    facts(host).pci.clear();
    facts(host).gpus = {"NVIDIA A100, 40GB, 535.104", "NVIDIA A100, 40GB, 535.104"};
  }
  EXPECT_THAT(text(), Contains("  2 NVIDIA A100, 40GB - driver 535.104"));
  facts(1).gpus.pop_back();
  EXPECT_THAT(text(), Contains("  [0] 2 NVIDIA A100, 40GB - [1] 2 NVIDIA A100, 40GB (nvidia-smi: 1)"));
}

TEST_F(CheckReportTest, CountsAllDevicesThatOneFileServes) {
  set_up(1);
  facts(0).devices = {{"AMD", "/dev/dri/renderD128"}, {"AMD", "/dev/dri/renderD136"}};
  facts(0).holders = {{"/dev/kfd", 14, "alice", "AMD", "", "python3"}};
  EXPECT_THAT(text(), Contains("  2 AMD"));
  EXPECT_THAT(text(), Contains("  [0] tpu-0: accelerators busy: 2 of 2 held by python3 of alice (pid 14)"));
}

class GpuReportTest : public CheckReportTest {
 protected:
  /// One host with two GPUs, of which nvidia-smi says this.
  void tell(const std::string& lines) {
    set_up(1);
    const HostFacts told =
        parse_check_reply("podrun-check n\ndevice NVIDIA /dev/nvidia0\ndevice NVIDIA /dev/nvidia1\n" + lines +
                              "gpus_to_see 2\nend\n",
                          "n");
    HostFacts& host = facts(0);
    host.devices = told.devices;
    host.gpus = told.gpus;
    host.gpu_faults = told.gpu_faults;
    host.gpu_texts = told.gpu_texts;
    host.gpus_to_see = told.gpus_to_see;
    if (const std::string& error = told.value("gpu_error"); !error.empty()) set_value(0, "gpu_error", error);
  }
};

TEST_F(GpuReportTest, AFailureOfNvidiaSmiIsAFaultOfTheHost) {
  const std::string row = "gpu NVIDIA H100, 570.124\n";
  const std::pair<std::string, std::string> cases[] = {
      {"gpu NVIDIA-SMI has failed, reinstall it\ngpu_error ends with status 9\n",
       "nvidia-smi ends with status 9: NVIDIA-SMI has failed, reinstall it"},
      {row + row + "gpu_error ends with status 14\n", "nvidia-smi ends with status 14"},
      {"gpu_error takes longer than 20 s\n", "nvidia-smi takes longer than 20 s"},
      {"gpu No devices were found\n", "nvidia-smi: No devices were found"},
      {"gpu WARNING: bad\ngpu Unable to determine the device handle\n" + row,
       "nvidia-smi: Unable to determine the device handle"},
      {row, "nvidia-smi: 1 of 2 GPUs"},
      {"", "nvidia-smi: 0 of 2 GPUs"},
      {"gpu [GPU is lost], 570.124\n" + row, "nvidia-smi: 1 of 2 GPUs: [GPU is lost]"},
      {"gpu [Unknown Error], [Unknown Error]\n" + row, "nvidia-smi: 1 of 2 GPUs: [Unknown Error]"},
      {"gpu NVIDIA H100, [Unknown Error]\n" + row, "nvidia-smi: 1 of 2 GPUs: [Unknown Error]"},
      {"gpu NVIDIA H100\n" + row, "nvidia-smi: NVIDIA H100"},
      {"gpu ERR!, 570.124\n" + row, "nvidia-smi: 1 of 2 GPUs: ERR!"}};
  for (const auto& [lines, problem] : cases) {
    tell(lines);
    EXPECT_THAT(text(), Contains("  [0] tpu-0: " + problem));
    EXPECT_EQ(last(), "the host has a problem");
    EXPECT_THAT(join(text(), "\n"), Not(HasSubstr("2 NVIDIA-SMI")));
    EXPECT_THAT(join(text(), "\n"), Not(HasSubstr("2 [")));
  }
}

TEST_F(GpuReportTest, GpusThatWorkAreFine) {
  const std::string row = "gpu NVIDIA A100-SXM4-40GB, 535.104.05\n";
  for (const std::string& lines :
       {row + row, "gpu WARNING: infoROM is corrupted at gpu 0000:3B:00.0\n" + row + row, row + row + row,
        std::string("gpu Orin (nvgpu), [N/A]\ngpu Orin (nvgpu), N/A\n")}) {
    tell(lines);
    EXPECT_TRUE(compare().is_well()) << lines;
    EXPECT_THAT(join(text(), "\n"), Not(HasSubstr("WARNING")));
  }
}

TEST_F(GpuReportTest, SaysThatItCannotTellWithoutNvidiaSmi) {
  tell("");
  facts(0).gpus_to_see.reset();
  EXPECT_TRUE(compare().is_well());
  EXPECT_THAT(text(), Contains("note: without nvidia-smi podrun cannot tell whether the GPUs work"));
}

TEST_F(CheckReportTest, NamesWhoHoldsAccelerators) {
  set_up(3);
  facts(1).holders = {{"/dev/accel0", 12, "alice", "", "", "python3"},
                      {"/dev/accel3", 12, "alice", "", "", "python3"}};
  EXPECT_THAT(text(), Contains("  [1] tpu-1: accelerators busy: 2 of 4 held by python3 of alice (pid 12)"));
  EXPECT_THAT(text(), Contains("to free the accelerators: podrun --workers 1 kill"));
  EXPECT_EQ(last(), "1 of 3 hosts has a problem; to go on without it: --workers 0,2");
  facts(2).holders = {{"/dev/accel0", 7, "alice", "", "", "python3"},
                      {"/dev/accel1", 8, "alice", "", "", "python3"}};
  EXPECT_THAT(text(), Contains("  [1,2] accelerators busy: 2 of 4 held by python3 of alice: [1] (pid 12), "
                               "[2] (pid 7, 8)"));
  EXPECT_THAT(text(), Contains("to free the accelerators: podrun --workers 1,2 kill"));
}

TEST_F(CheckReportTest, NamesTheJobThatHoldsAccelerators) {
  set_up(3);
  for (const std::size_t host : {1U, 2U})
    facts(host).holders = {{"/dev/accel0", host + 1, "alice", "", "j1", "python3"}};
  EXPECT_THAT(text(), Contains("  [1,2] accelerators busy: 1 of 4 held by the job j1 (podrun stop j1)"));
  EXPECT_THAT(text(), Not(Contains(HasSubstr("podrun --workers 1,2 kill")))) << "it spares jobs";
  facts(2).holders.push_back({"/dev/accel1", 77, "alice", "", "", "sleep"});
  EXPECT_THAT(text(), Contains("  [2] tpu-2: accelerators busy: 2 of 4 held by the job j1 (podrun stop j1), "
                               "sleep of alice (pid 77)"));
  EXPECT_THAT(text(), Contains("to free the accelerators: podrun --workers 2 kill"));
}

TEST_F(CheckReportTest, AllowsAJobOfThisUserToHoldDevices) {
  set_up(3);
  for (const std::size_t host : {0U, 1U, 2U}) {
    facts(host).own_user = "alice";
    facts(host).live_jobs = {"train"};
    facts(host).holders = {{"/dev/accel0", 5, "alice", "", "train", "python3"},
                           {"/dev/accel1", 5, "alice", "", "train", "python3"}};
  }
  EXPECT_TRUE(compare().is_well());
  EXPECT_THAT(text(),
              Contains("note: your job train (podrun stop train) has 2 of 4 accelerators open, on 3 hosts"));
  facts(2).live_jobs = {};
  EXPECT_FALSE(compare().is_well()) << "left behind by it";
  facts(2).live_jobs = {"train"};
  facts(1).holders[0].user = "bob";
  EXPECT_THAT(text(),
              Contains("  [1] tpu-1: accelerators busy: 1 of 4 held by the job train (podrun stop train)"));
}

TEST_F(CheckReportTest, AllowsMonitorsToHoldDevices) {
  set_up(1);
  facts(0).devices = {{"NVIDIA", "/dev/nvidia0"}};
  facts(0).holders = {{"/dev/nvidia0", 12, "root", "", "", "nvidia-persiste"},
                      {"/dev/nvidia0", 13, "alice", "", "", "nvidia-smi"}};
  EXPECT_TRUE(compare().is_well());
  facts(0).holders.push_back({"/dev/nvidia0", 14, "alice", "", "", "python3"});
  EXPECT_THAT(text(), Contains("  [0] tpu-0: accelerators busy: 1 of 1 held by python3 of alice (pid 14)"));
}

TEST_F(CheckReportTest, SaysWhenHoldersMayBeHidden) {
  set_up(2);
  facts(1).sees_own = true;
  EXPECT_TRUE(compare().is_well());
  EXPECT_THAT(text(),
              Contains("note: whether other users hold the accelerators cannot be seen (--sudo sees it)"));
  facts(1).devices.clear();
  EXPECT_THAT(text(), Not(Contains(HasSubstr("note:"))));
}

TEST_F(CheckReportTest, GroupsUnreachableHosts) {
  set_up(5);
  const link::Failure refused{link::Stage::connecting, link::Cause::refused};
  lose(1, run::Unreachable{refused, 3});
  lose(2, run::Unreachable{refused, 1});
  lose(4, run::Unreachable{{link::Stage::login, link::Cause::permission_denied}});
  EXPECT_THAT(text().front(), "2 of 5 hosts have answered, and agree on:");
  EXPECT_THAT(text(), Contains("  [1,2] unreachable: connecting: connection refused"));
  EXPECT_THAT(text(), Contains("  [4] tpu-4: unreachable: login: permission denied"));
  EXPECT_EQ(last(), "3 of 5 hosts have a problem; to go on without them: --workers 0,3");
}

TEST_F(CheckReportTest, SpeaksOnlyOfHostsThatHaveAnsweredSoFar) {
  set_up(3);
  lose(1, run::NotStarted{});
  EXPECT_EQ(text().front(), "2 of 3 hosts have answered, and agree on:");
  EXPECT_EQ(last(), "2 of 3 hosts are fine");
}

TEST_F(CheckReportTest, FoldsChangedHostKeys) {
  set_up(3);
  for (const std::size_t host : {0U, 2U}) {
    lose(host, run::Unreachable{
                   {link::Stage::host_key, link::Cause::host_key_changed, fmt::format("{}, not X", host)}});
  }
  EXPECT_THAT(text(), Contains("  [0,2] unreachable: the host key has changed (-v shows the keys)"));
  EXPECT_THAT(text(), Contains("if [0,2] were recreated: podrun --workers 0,2 hosts --forget-keys"));
}

TEST_F(CheckReportTest, NamesTheStepAtWhichAHostHangs) {
  set_up(2);
  checked_[1].outcome = run::TimedOut{60s};
  facts(1).is_complete = false;
  facts(1).looking_at = "nvidia-smi";
  facts(1).values.clear();
  EXPECT_THAT(text(), Contains("  [1] tpu-1: timed out after 1 min, at nvidia-smi"));
  EXPECT_THAT(text(), Not(Contains(HasSubstr("they differ"))));
}

TEST_F(CheckReportTest, NamesAHostThatAnswersNothing) {
  set_up(2);
  lose(1, link::Exited{0});
  lose(0, run::Lost{{.stage = link::Stage::running,
                     .cause = link::Cause::no_answer,
                     .after = std::chrono::seconds(45)}});
  EXPECT_THAT(text(), Contains("  [1] tpu-1: gives no answer"));
  EXPECT_THAT(text(), Contains("  [0] tpu-0: lost: running: no answer for 45 s"));
}

TEST_F(CheckReportTest, ReportsNearlyFullDisks) {
  const auto is_full = [this](std::uint64_t available, std::uint64_t size) {
    set_up(1);
    facts(0).disks = {{"root", "/", size, available}};
    return !compare().is_well();
  };
  EXPECT_TRUE(is_full(kGib - 1, 97 * kGib));
  EXPECT_TRUE(is_full(4 * kGib, 97 * kGib));
  EXPECT_FALSE(is_full(5 * kGib, 97 * kGib));
  EXPECT_FALSE(is_full(300 * kGib, 10'000 * kGib));  // a large one has room left
  EXPECT_FALSE(is_full(kGib / 2, kGib - 1));         // a small one too
  EXPECT_TRUE(is_full(kGib / 4, kGib));
  EXPECT_FALSE(is_full(0, 0));  // it does not say
  set_up(2);
  facts(1).disks[0].available = kGib / 4;
  facts(1).disks.push_back({"home", "/home", 8 * kGib, 0});
  EXPECT_THAT(text(), Contains("  [1] tpu-1: disk / 0.2 of 97 GiB free"));
  EXPECT_THAT(text(), Contains("  [1] tpu-1: disk of the home directory 0.0 of 8.0 GiB free"));
}

TEST_F(CheckReportTest, ReportsMemoryInUse) {
  set_up(2);
  facts(1).memory_available = 3 * kGib;
  EXPECT_THAT(text(), Contains("  [1] tpu-1: memory 3.0 of 400 GiB available"));
  EXPECT_THAT(text(), Contains(HasSubstr("memory 3.0-391 GiB available ([1] least)")));
  facts(1).memory_available.reset();  // not said by an old kernel
  EXPECT_TRUE(compare().is_well());
}

TEST_F(CheckReportTest, NamesClocksThatAreOff) {
  set_up(4);
  checked_[2].clock = {3200ms, 20ms};
  EXPECT_THAT(text(), Contains("  [2] tpu-2: clock 3.2 s ahead"));
  checked_[2].clock = {-600s, 20ms};
  checked_[3].clock = {-1500ms, 100ms};
  EXPECT_THAT(text(), Contains("  [2,3] clock: [2] 10 min behind, [3] 1.5 s behind"));
  checked_[2].clock = {-800'000'000s, 20ms};
  checked_[3].clock = {200'000s, 20ms};
  EXPECT_THAT(text(), Contains("  [2,3] clock: [2] 25 years behind, [3] 2 days ahead"));
}

TEST_F(CheckReportTest, IgnoresClocksThatItCannotMeasure) {
  set_up(2);
  checked_[1].clock = {3200ms, 2300ms};
  EXPECT_TRUE(compare().is_well());
  checked_[1].clock.reset();
  EXPECT_TRUE(compare().is_well());
}

TEST_F(CheckReportTest, BlamesOurClockIfTheHostsAgree) {
  set_up(4);
  for (CheckedHost& host : checked_) host.clock = {30s, 20ms};
  EXPECT_TRUE(compare().is_well());
  EXPECT_THAT(text(), Contains("note: the clock of this machine is 30.0 s behind theirs"));
  checked_[3].clock = {0s, 20ms};
  EXPECT_THAT(text(), Contains("  [3] tpu-3: clock 30.0 s behind"));
  checked_.resize(2);
  hosts_.resize(2);
  EXPECT_THAT(text(), Contains("  [0,1] clock: [0] 30.0 s ahead, [1] 30.0 s ahead"));  // two are no majority
}

TEST(ClockOffset, LiesInTheMiddleOfTheRoundTrip) {
  HostFacts facts;
  EXPECT_FALSE(clock_offset(facts, 100s, 1s));
  facts.clock = 103s;
  EXPECT_EQ(clock_offset(facts, 100s, 1s)->ahead, 3500ms);
  EXPECT_EQ(clock_offset(facts, 100s, 1s)->uncertainty, 500ms);
  facts.clock_step = 1s;  // it may be nearly a second later there
  EXPECT_EQ(clock_offset(facts, 100s, 1s)->ahead, 4s);
  EXPECT_EQ(clock_offset(facts, 100s, 1s)->uncertainty, 1s);
}

TEST_F(CheckReportTest, ComparesTheCommit) {
  set_up(4);
  request_.directory = "~/app";
  for (std::size_t host = 0; host < 4; ++host) {
    set_value(host, "commit", "1e398668d97df06f7c8daebb9b9dfcaad3484ae4");
    set_value(host, "branch", "main");
    set_value(host, "changes", "0");
  }
  EXPECT_THAT(text(), Contains("  commit 1e398668d97d - branch main - no changes"));
  set_value(1, "changes", "2 0123456789abcdef");
  set_value(2, "branch", "");
  facts(3).values.erase("commit");
  set_value(3, "git_error", "not a git repository");
  EXPECT_THAT(text(), Contains("  [0,2] no changes - [1] 2 files changed (0123456789ab)"));
  EXPECT_THAT(text(), Contains("  [0,1] branch main - [2] no branch"));
  EXPECT_THAT(text(), Contains("  [3] tpu-3: git in ~/app: not a git repository"));
}

TEST_F(CheckReportTest, DoesNotSayThatAllHaveACommitThatSomeHave) {
  set_up(3);
  request_.directory = "~/app";
  for (const std::size_t host : {0U, 2U}) set_value(host, "git_error", "not a git repository");
  set_value(1, "commit", "1e398668d97df06f7c8daebb9b9dfcaad3484ae4");
  set_value(1, "branch", "main");
  EXPECT_THAT(text(), Contains("  [1] commit 1e398668d97d - branch main"));
}

TEST_F(CheckReportTest, RequiresTheNamedPython) {
  set_up(2);
  facts(1).values.erase("python");
  EXPECT_EQ(last(), "the hosts differ: python");
  request_.python = "/venv/bin/python";
  EXPECT_THAT(text(), Contains("  [1] tpu-1: no python at /venv/bin/python"));
  set_value(1, "python_error", "ends with status 1");
  EXPECT_THAT(text(), Contains("  [1] tpu-1: /venv/bin/python ends with status 1"));
}

TEST_F(CheckReportTest, EscapesTextOfHosts) {
  set_up(2);
  set_value(1, "jax", "\x1b[2J\xff");
  facts(1).holders = {{"/dev/accel0", 1, "\x1bu", "", "", "c\n"}};
  for (const std::string& line : text()) {
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST_F(CheckReportTest, NamesACauseInJsonOnlyForAFailureOfTheConnection) {
  set_up(4);
  lose(0, run::Lost{{link::Stage::running, link::Cause::no_answer}});
  lose(1, run::Unreachable{
              {.stage = link::Stage::login, .cause = link::Cause::refused, .jump_hosts = {"gate"}}});
  lose(2, run::TimedOut{std::chrono::seconds(60)});
  const auto json = nlohmann::json::parse(check_json(output::WallTime(), hosts_, checked_, compare()));
  EXPECT_EQ(json["hosts"][0]["stage"], "running");
  EXPECT_EQ(json["hosts"][0]["cause"], "no_answer");
  EXPECT_EQ(json["hosts"][1]["jump_host"], "gate");
  for (const std::size_t host : {2U, 3U}) EXPECT_FALSE(json["hosts"][host].contains("cause"));
}

TEST_F(CheckReportTest, HasTheSameFactsInJson) {
  set_up(3);
  hosts_[1].worker = 8;
  set_value(1, "jax", "\xff");
  lose(2, run::Unreachable{{link::Stage::connecting, link::Cause::refused}});
  const auto json = nlohmann::json::parse(check_json(output::WallTime(), hosts_, checked_, compare()));
  EXPECT_EQ(json["well"], false);
  EXPECT_EQ(json["hosts"].size(), 3);
  EXPECT_EQ(json["hosts"][0]["usable"], true);
  EXPECT_EQ(json["hosts"][0]["facts"]["memory"]["total"], 400 * kGib);
  EXPECT_EQ(json["hosts"][1]["worker"], 8);
  EXPECT_EQ(json["hosts"][2]["stage"], "connecting");
  EXPECT_EQ(json["hosts"][2]["cause"], "refused");
  EXPECT_EQ(json["hosts"][2]["message"], "unreachable: connecting: connection refused");
  EXPECT_EQ(json["problems"][0]["workers"], nlohmann::json({2}));
  for (const auto& item : json["items"]) {
    if (item["name"] != "jax") continue;
    EXPECT_EQ(item["agreed"], false);
    EXPECT_EQ(item["groups"][1]["workers"], nlohmann::json({8}));
  }
}

}  // namespace
}  // namespace podrun::check
