// SPDX-License-Identifier: Apache-2.0
#include "podrun/kill/kill_choice.hpp"

#include <string>

#include <gmock/gmock.h>

namespace podrun::kill {
namespace {

using namespace std::chrono_literals;

const std::string kId(64, 'a');

class KillChoiceTest : public testing::Test {
 protected:
  KillChoiceTest() {
    list_.uid = 1000;
    list_.sees_all = true;
    holder_ = {.pid = 12,
               .start = 5,
               .uid = 1000,
               .age = 60s,
               .name = "python3",
               .user = "ada",
               .command = "python3 train.py"};
  }

  std::string why_kept() {
    list_.holders = {holder_};
    return choose(list_, request_).front().why_kept;
  }

  devices::DeviceHolders list_;
  devices::DeviceHolder holder_;
  KillRequest request_;
};

TEST_F(KillChoiceTest, StopsTheUsersOwnProcesses) { EXPECT_EQ(why_kept(), ""); }

TEST_F(KillChoiceTest, SparesServices) {
  holder_.uid = 0;
  for (const std::string name : {"Xorg", "dockerd", "nvidia-persiste", "sshd", "containerd-shim-runc-v2"}) {
    holder_.name = name;
    EXPECT_EQ(why_kept(), "a service of this host") << name;
    EXPECT_TRUE(choose(list_, request_).front().is_service);
  }
  holder_.name = "python3";
  holder_.pid = 1;
  EXPECT_EQ(why_kept(), "a service of this host");
}

TEST_F(KillChoiceTest, DoesNotMistakeAUsersProcessForASystemService) {
  holder_.name = "sshd";
  EXPECT_EQ(why_kept(), "");
  request_.all_users = true;
  for (const std::uint64_t uid : {1000U, 1001U, 65534U}) {
    holder_.uid = uid;
    EXPECT_EQ(why_kept(), "") << uid;
  }
}

TEST_F(KillChoiceTest, StopsAServiceThatAUserMayHaveStartedOnlyByPid) {
  request_.all_users = true;
  for (const std::string name : {"raylet", "nvidia-smi"}) {
    holder_.name = name;
    for (const std::uint64_t uid : {1000U, 1001U}) {
      holder_.uid = uid;
      EXPECT_EQ(why_kept(), "named like a service (--pid 12 stops it)") << name;
      EXPECT_FALSE(choose(list_, request_).front().is_service) << name;
    }
  }
  request_.pids = {12};
  EXPECT_EQ(why_kept(), "");
}

TEST_F(KillChoiceTest, MonitorsAndMpsStayAndLeaveTheAcceleratorsFree) {
  for (const std::string name : {"nvidia-cuda-mps", "nvtop", "nvitop", "btop", "gpustat", "all-smi",
                                 "netdata", "telegraf", "dcgm-exporter", "nvidia_gpu_expo"}) {
    holder_.name = name;
    request_ = {};
    EXPECT_EQ(why_kept(), "named like a service (--pid 12 stops it)") << name;
    EXPECT_TRUE(choose(list_, request_).front().is_monitor) << name;
    request_.pids = {12};
    EXPECT_EQ(why_kept(), "") << name;
    EXPECT_FALSE(choose(list_, request_).front().is_monitor) << name;
  }
  for (const std::string name : {"raylet", "python3", "nvtop2"}) {
    holder_.name = name;
    list_.holders = {holder_};
    EXPECT_FALSE(choose(list_, {}).front().is_monitor) << name;
  }
}

TEST_F(KillChoiceTest, SuggestsNoCommandWithTextOfAHost) {
  holder_.run_lives = true;
  for (const std::string mark : {"$(id)0123456.0.", "$(id).job-0-$(id).", "0123456789abcdef.job-0-$(id).",
                                 "0123456789abcdef.job-0--x."}) {
    holder_.mark = mark;
    EXPECT_EQ(why_kept().find("(id)"), std::string::npos) << mark;
  }
}

TEST_F(KillChoiceTest, SparesTheAncestorsOfPodrunsShell) {
  list_.above = {40, 12};
  EXPECT_EQ(why_kept(), "among the ancestors of podrun's own shell");
}

TEST_F(KillChoiceTest, SparesOtherUsers) {
  holder_.uid = 1001;
  holder_.user = "bob";
  EXPECT_EQ(why_kept(), "of another user (--all-users stops it)");
  request_.all_users = true;
  EXPECT_EQ(why_kept(), "");
  list_.sees_all = false;
  EXPECT_EQ(why_kept(), "of another user, and sudo -n fails there");
  list_.sees_all = true;
  for (const std::string user : {"bob", "1001"}) {
    request_ = {.user = user};
    EXPECT_EQ(why_kept(), "");
  }
  holder_.uid = 1000;
  holder_.user = "ada";
  EXPECT_EQ(why_kept(), "not of --of-user");
}

TEST_F(KillChoiceTest, AppliesEveryRestriction) {
  request_ = {.pids = {11, 12}, .match = "train", .older_than = 60s};
  EXPECT_EQ(why_kept(), "");
  request_.older_than = 61s;
  EXPECT_EQ(why_kept(), "younger than --older-than");
  request_.match = "serve";
  EXPECT_EQ(why_kept(), "not matched by --match");
  request_.pids = {13};
  EXPECT_EQ(why_kept(), "not named by --pid");
}

TEST_F(KillChoiceTest, SparesARunningRunUnlessNamed) {
  holder_.mark = "0123456789abcdef.3.";
  EXPECT_EQ(why_kept(), "") << "the run is over";
  holder_.run_lives = true;
  EXPECT_EQ(why_kept(), "of a podrun run that goes on (--run 01234567 stops it)");
  request_.runs = {"9", "01234567"};
  EXPECT_EQ(why_kept(), "");
}

TEST_F(KillChoiceTest, SparesARunningJobUnlessNamed) {
  holder_.mark = "0123456789abcdef.job-12-llama-3.1.";
  EXPECT_EQ(why_kept(), "") << "the job has ended";
  holder_.run_lives = true;
  EXPECT_EQ(why_kept(), "of the job llama-3.1 (podrun stop llama-3.1, or --job llama-3.1, stops it)");
  request_.jobs = {"llama-3.1"};
  EXPECT_EQ(why_kept(), "");
}

TEST_F(KillChoiceTest, SparesOtherContainersAndNamesThem) {
  holder_.cgroup = "/system.slice/docker-" + kId + ".scope";
  EXPECT_EQ(why_kept(), "in a container (docker stop aaaaaaaaaaaa)");
  list_.own_cgroup = holder_.cgroup;
  EXPECT_EQ(why_kept(), "");
}

TEST(ContainerCommand, KnowsTheEngines) {
  EXPECT_EQ(container_command("/docker/" + kId), "docker stop aaaaaaaaaaaa");
  EXPECT_EQ(container_command("/machine.slice/libpod-" + kId + ".scope/container"),
            "podman stop aaaaaaaaaaaa");
  EXPECT_EQ(container_command("/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + kId + ".scope"),
            "crictl stop aaaaaaaaaaaa");
  EXPECT_EQ(container_command("/kubepods/besteffort/pod12/" + kId), "crictl stop aaaaaaaaaaaa");
  EXPECT_EQ(container_command("/user.slice/user-1000.slice"), "");
  EXPECT_EQ(container_command(""), "");
}

}  // namespace
}  // namespace podrun::kill
