// SPDX-License-Identifier: Apache-2.0
// The file that runs a step of a task, in a real bash.
#include "podrun/tasks/step.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class StepTest : public testing::Test {
 protected:
  /// Runs text as a step on a host, whose variables of podrun are those of rank 1 of 2.
  test::ShellRun run(const std::string& text, std::vector<remote::Variable> environment = {},
                     std::size_t line = 1) {
    Task task;
    task.name = "t";
    task.run = {text, line};
    task.environment = environment;
    const remote::Command command = step_command(task, Step::run, "sky-0_t_1");
    const auto& script = std::get<remote::Script>(command.what);
    test::Texts variables = {"HOME=" + home_.path(), "PODRUN_RANK=1", "PODRUN_NUM_HOSTS=2",
                             "PODRUN_HOSTLIST=a\nb", "PODRUN_ADDRESSES=10.0.0.1\n10.0.0.2"};
    for (const remote::Variable& variable : command.environment)
      variables.push_back(variable.name + "=" + variable.value);
    return test::run_words({"bash", run_.write(script.name, script.content)}, {}, variables);
  }

  /// Puts a program before all others.
  void program(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(home_.path("bin"));
    const std::string path = home_.write("bin/" + name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    bashrc_ += "PATH=$HOME/bin:$PATH\n";
    home_.write(".bashrc", bashrc_);
  }
  void bashrc(const std::string& text) {
    bashrc_ += text;
    home_.write(".bashrc", bashrc_);
  }

  test::TempDirectory home_;
  test::TempDirectory run_;
  std::string bashrc_;
};

TEST_F(StepTest, IsAScriptForBashNamedAfterTheStep) {
  Task task;
  task.name = "a b/c";
  task.setup = {"echo hi\n", 1};
  task.environment = {{"A", "1"}};
  const remote::Command command = step_command(task, Step::setup, make_task_id(task, "0a1b"));
  const auto& script = std::get<remote::Script>(command.what);
  EXPECT_EQ(script.name, "setup");
  EXPECT_TRUE(script.content.starts_with("#!/usr/bin/env bash\npodrun_names='A SKYPILOT_TASK_ID';"));
  EXPECT_TRUE(script.content.ends_with("\necho hi\n\n"));
  EXPECT_THAT(script.arguments, ElementsAre());
  EXPECT_THAT(command.environment, ElementsAre(remote::Variable{"A", "1"},
                                               remote::Variable{"SKYPILOT_TASK_ID", "sky-0a1b_a-b-c_1"}));
}

TEST_F(StepTest, RunsInTheWorkingDirectoryWhichItMakes) {
  const test::ShellRun ran = run("pwd\nexit 3\n");
  EXPECT_EQ(ran.output, home_.path("sky_workdir") + "\n");
  EXPECT_EQ(ran.exit_status, 3);
}

TEST_F(StepTest, HasSkyPilotsVariables) {
  const test::ShellRun ran =
      run("echo $SKYPILOT_NODE_RANK $SKYPILOT_NUM_NODES $SKYPILOT_NUM_GPUS_PER_NODE $SKYPILOT_TASK_ID\n"
          "echo \"$SKYPILOT_NODE_IPS\" | head -n1\n"
          "echo $SKYPILOT_SETUP_NODE_RANK $SKYPILOT_SETUP_NODE_IPS\n");
  EXPECT_EQ(ran.output, "1 2 0 sky-0_t_1\n10.0.0.1\n1 10.0.0.1 10.0.0.2\n");
}

TEST_F(StepTest, CountsTheGpus) {
  program("nvidia-smi", "echo 'GPU 0: A'; echo '  MIG 1g: B'; echo 'GPU 1: C'");
  EXPECT_EQ(run("echo $SKYPILOT_NUM_GPUS_PER_NODE").output, "2\n");
  EXPECT_EQ(run("echo $SKYPILOT_NUM_GPUS_PER_NODE", {{"SKYPILOT_NUM_GPUS_PER_NODE", "4"}}).output, "4\n");
}

// Most .bashrc leave at once in a shell that is not interactive.
TEST_F(StepTest, ReadsAllOfBashrc) {
  bashrc(
      "case $- in *i*) ;; *) return ;; esac\n"
      "echo noise\necho noise >&2\n"
      "export FROM_RC='a  b'\n"
      "greet() { echo \"hello $1\"; }\n"
      "shopt -s extglob\n"
      "aaa() { case $1 in +(a|b)) echo extglob ;; esac; }\n");
  EXPECT_EQ(run("greet \"$FROM_RC\"\naaa ab\n").output, "hello a  b\nextglob\n");
}

TEST_F(StepTest, VariablesOfTheTaskWinOverBashrc) {
  bashrc("export A=rc B=rc\n");
  EXPECT_EQ(run("echo $A $B\n", {{"A", "task"}}).output, "task rc\n");
}

TEST_F(StepTest, SurvivesABashrcThatEndsOrReplacesTheShell) {
  bashrc("exec cat\n");
  EXPECT_EQ(run("echo on\n").output, "on\n");
  bashrc_.clear();
  bashrc("exit 7\n");
  EXPECT_EQ(run("echo on\n").output, "on\n");
}

TEST_F(StepTest, IsNotInteractiveItself) {
  EXPECT_EQ(run("case $- in *i*) echo yes ;; *) echo no ;; esac\nkill -TERM $$\necho alive\n").output,
            "no\n");
}

TEST_F(StepTest, CondaInThePathCanActivate) {
  program("conda", "echo \"$HOME/conda\"");
  std::filesystem::create_directories(home_.path("conda/etc/profile.d"));
  home_.write("conda/etc/profile.d/conda.sh", "conda() { echo \"function $*\"; }\n");
  EXPECT_EQ(run("conda activate x\n").output, "function activate x\n");
}

TEST_F(StepTest, AProgramNamedCondaIsEnough) {
  program("conda", "echo \"program $*\"");
  EXPECT_EQ(run("conda activate x\n").output, "program activate x\n");
}

TEST_F(StepTest, ErrorsHaveTheLineOfTheTaskFile) {
  const test::ShellRun ran = run("exec 2>&1\necho $LINENO\nno-such-program-here\n", {}, 20);
  EXPECT_THAT(ran.output, HasSubstr("21\n"));
  EXPECT_THAT(ran.output, HasSubstr("line 22: no-such-program-here"));
  EXPECT_EQ(ran.exit_status, 127);
}

TEST_F(StepTest, LeavesNothingOfPodrunInTheShell) {
  EXPECT_THAT(run("set\n").output, Not(HasSubstr("podrun_names=")));
  EXPECT_THAT(run("echo $#-$1\n").output, "0-\n");
}

}  // namespace
}  // namespace podrun::tasks
