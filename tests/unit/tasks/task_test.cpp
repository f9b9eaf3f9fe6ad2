// SPDX-License-Identifier: Apache-2.0
#include "podrun/tasks/task.hpp"

#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::tasks {
namespace {

using supervisor::Variable;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Makes the task of this text; `here`: the variables of podrun's own environment.
Task make(const std::string& text, std::vector<Variable> variables = {},
          std::map<std::string, std::string> here = {}) {
  const auto env = [&here](const std::string& name) {
    const auto found = here.find(name);
    return found == here.end() ? std::nullopt : std::optional(found->second);
  };
  return make_task(config::parse_task_file(text, "t.yaml"),
                   {.variables = std::move(variables), .env = env, .home = "/home/ada"});
}

std::string error_of(const std::string& text, std::vector<Variable> variables = {},
                     std::map<std::string, std::string> here = {}) {
  return usage_error([&] { make(text, std::move(variables), std::move(here)); });
}

TEST(TaskTest, IsNamedAfterTheFileIfItHasNoName) {
  EXPECT_EQ(make("name: train\n").name, "train");
  EXPECT_EQ(make("run: x\n").name, "t");
}

TEST(TaskTest, LetsGivenVariablesWin) {
  const Task task = make("envs: {A: 1, B: 2}\n", {{"B", "3"}, {"C", "4"}, {"B", "5"}});
  EXPECT_THAT(task.environment, ElementsAre(Variable{"A", "1"}, Variable{"B", "5"}, Variable{"C", "4"}));
}

TEST(TaskTest, TakesRequiredVariablesFromTheUserOrPodrunsEnvironment) {
  const std::string text = "envs: {A: , B: null, C: }\n";
  const Task task = make(text, {{"A", "given"}, {"B", ""}}, {{"A", "here"}, {"C", "here"}});
  EXPECT_THAT(task.environment,
              ElementsAre(Variable{"A", "given"}, Variable{"B", ""}, Variable{"C", "here", true}));
  EXPECT_EQ(error_of("name: x\nenvs:\n  HF_TOKEN:\n"),
            "t.yaml:3: envs: HF_TOKEN has no value (give it: --env HF_TOKEN=VALUE, or set it here)");
  EXPECT_THAT(error_of("secrets: [A]\n", {}, {{"A", ""}}), StartsWith("t.yaml:1: secrets: A has no value"));
}

TEST(TaskTest, KeepsAnEmptyValueWhateverPodrunsEnvironmentHas) {
  EXPECT_THAT(make("envs: {A: ''}\n", {}, {{"A", "here"}}).environment, ElementsAre(Variable{"A", ""}));
}

TEST(TaskTest, TakesNoOtherVariablesFromPodrunsEnvironment) {
  EXPECT_THAT(make("envs: {A: 1}\n", {}, {{"A", "here"}, {"B", "here"}}).environment,
              ElementsAre(Variable{"A", "1"}));
}

TEST(TaskTest, SecretsStaySecretHoweverTheyAreGiven) {
  const std::string text = "secrets: {A: x, B: , C: }\n";
  for (const Variable& variable : make(text, {{"A", "y"}, {"B", "z"}}, {{"C", "z"}}).environment)
    EXPECT_TRUE(variable.secret) << variable.name;
  EXPECT_TRUE(make("envs: {A: }\n", {{"A", "1", true}}).environment.front().secret);
}

TEST(TaskTest, ReportsABadNameWithItsLine) {
  EXPECT_EQ(error_of("envs:\n  A-B: 1\n"),
            "t.yaml:2: envs: bad name \"A-B\" (expected letters, digits and _)");
}

TEST(TaskTest, PutsVariablesIntoPaths) {
  const Task task = make(
      "envs: {SIZE: 8B, DIR: code}\n"
      "secrets: {KEY: k}\n"
      "workdir: ~/$DIR\n"
      "file_mounts:\n"
      "  ~/m/${SIZE}: ./m-$SIZE/$KEY\n"
      "  /data: $HOME/data\n");
  EXPECT_EQ(task.workdir->source, "/home/ada/code");
  EXPECT_EQ(task.workdir->target, "~/sky_workdir");
  ASSERT_EQ(task.mounts.size(), 2U);
  EXPECT_EQ(task.mounts[0].target, "~/m/8B");
  EXPECT_EQ(task.mounts[0].source, "./m-8B/$KEY");
  EXPECT_EQ(task.mounts[0].where, "t.yaml:5: file_mounts");
  EXPECT_EQ(task.mounts[1].source, "$HOME/data");
}

TEST(TaskTest, LeavesNoVariableInATarget) {
  EXPECT_EQ(error_of("secrets: {K: x}\nfile_mounts:\n  ~/$K: ./a\n"),
            "t.yaml:3: file_mounts: ~/$K: K is a secret, and paths are shown (expected a variable of envs)");
  EXPECT_EQ(error_of("file_mounts:\n  ~/${NONE}: ./a\n"),
            "t.yaml:2: file_mounts: ~/${NONE}: NONE has no value (expected -e NONE=VALUE)");
}

TEST(TaskTest, NamesAllStorageAtOnce) {
  EXPECT_THAT(error_of("file_mounts: {/a: 's3://b', /c: {name: d}}\n"),
              testing::AllOf(HasSubstr("/a: podrun cannot"),
                             HasSubstr("; t.yaml:1: file_mounts: /c: podrun cannot")));
}

TEST(TaskTest, NotesSkyPilotsVariablesThatNothingSets) {
  const std::string text =
      "setup: echo ${SKYPILOT_JOB_RANK:-0} $SKYPILOT_NODE_RANK MY_SKYPILOT_X $SKYPILOT_TASK_ID\n"
      "run: |\n  echo $SKYPILOT_JOB_RANK\n  echo ${SKYPILOT_JOB_RANK}$SKYPILOT_GIVEN\n";
  const auto notes =
      notes_on_variables(config::parse_task_file(text, "t.yaml"), make(text, {{"SKYPILOT_GIVEN", "1"}}));
  EXPECT_THAT(
      notes, ElementsAre("t.yaml:3: SKYPILOT_JOB_RANK is not set here (-e SKYPILOT_JOB_RANK=VALUE sets it)"));
}

TEST(TaskTest, PutsRelativeTargetsBelowTheWorkingDirectory) {
  const Task task = make("file_mounts: {data/x: ./x, '~': ./home, /y: ./y}\n");
  EXPECT_EQ(task.mounts[0].target, "~/sky_workdir/data/x");
  EXPECT_EQ(task.mounts[1].target, "~");
  EXPECT_EQ(task.mounts[2].target, "/y");
}

TEST(TaskTest, SaysHowToCopyFromCloudStorage) {
  EXPECT_EQ(error_of("file_mounts:\n  /data: s3://bucket/x\n"),
            "t.yaml:2: file_mounts: /data: podrun cannot mount cloud storage (copy it in setup: aws s3 sync "
            "s3://bucket/x /data)");
  EXPECT_THAT(error_of("envs: {B: 'gs://b'}\nfile_mounts:\n  ~/d: $B/c\n"),
              HasSubstr("(copy it in setup: gsutil -m rsync -r gs://b/c ~/d)"));
  EXPECT_THAT(error_of("envs: {B: out}\nfile_mounts:\n  /out: {name: $B, mode: MOUNT}\n"),
              HasSubstr("/out: podrun cannot mount cloud storage (copy it in setup, or at the end of run)"));
  EXPECT_THAT(error_of("file_mounts: {/d: {source: 's3://b', mode: COPY}}\n"),
              HasSubstr("aws s3 sync s3://b /d"));
  EXPECT_EQ(error_of("file_mounts: {/d: 'a b://c', /e: './x://y'}\n"), "no error");
}

TEST(TaskTest, RequiresTheNumberOfHostsInTheFile) {
  const config::TaskFile file = config::parse_task_file("\nnum_nodes: 2\n", "t.yaml");
  check_num_nodes(file, 2);
  check_num_nodes(config::parse_task_file("run: x\n", "t.yaml"), 7);
  EXPECT_EQ(
      usage_error([&] { check_num_nodes(file, 1); }),
      "t.yaml:2: num_nodes is 2, but the task would run on 1 host (choose 2 hosts with -H or --workers, or "
      "change num_nodes)");
}

TEST(TaskTest, SubstitutesOnlyNamesThatHaveAValue) {
  const std::map<std::string, std::string, std::less<>> values = {{"A", "x"}, {"AB", "y"}, {"E", ""}};
  const auto substituted = [&values](std::string_view text) {
    return substitute(text, [&values](std::string_view name) {
      const auto found = values.find(name);
      return found == values.end() ? nullptr : &found->second;
    });
  };
  EXPECT_EQ(substituted("$A-${A}B$AB.$E|$NONE"), "x-xBy.|$NONE");
  EXPECT_EQ(substituted("$"), "$");
  EXPECT_EQ(substituted("${A ${} $1 $$A ${A:-b} a$"), "${A ${} $1 $x ${A:-b} a$");
  EXPECT_EQ(substituted(""), "");
}

// The file that runs a step of a task, in a real bash.
class StepTest : public testing::Test {
 protected:
  /// Runs text as a step on a host, whose variables of podrun are those of rank 1 of 2.
  test::ShellRun run(const std::string& text, std::vector<supervisor::Variable> environment = {},
                     std::size_t line = 1) {
    Task task;
    task.name = "t";
    task.run = {text, line};
    task.environment = environment;
    const supervisor::Command command = step_command(task, Step::run, "sky-0_t_1");
    const auto& script = std::get<supervisor::Script>(command.what);
    test::Texts variables = {"HOME=" + home_.path(), "PODRUN_RANK=1", "PODRUN_NUM_HOSTS=2",
                             "PODRUN_HOSTLIST=a\nb", "PODRUN_ADDRESSES=10.0.0.1\n10.0.0.2"};
    for (const supervisor::Variable& variable : command.environment)
      variables.push_back(variable.name + "=" + variable.value);
    return test::run_words({"bash", run_.write(script.name, script.content)}, {}, variables);
  }

  /// Adds a program that comes first in PATH.
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
  const supervisor::Command command = step_command(task, Step::setup, make_task_id(task, "0a1b"));
  const auto& script = std::get<supervisor::Script>(command.what);
  EXPECT_EQ(script.name, "setup");
  EXPECT_THAT(script.interpreter, ElementsAre("/usr/bin/env", "bash"));
  EXPECT_TRUE(script.content.starts_with("podrun_names='A SKYPILOT_TASK_ID';"));
  EXPECT_TRUE(script.content.ends_with(";echo hi\n\n"));
  EXPECT_THAT(script.arguments, ElementsAre());
  EXPECT_THAT(command.environment, ElementsAre(supervisor::Variable{"A", "1"},
                                               supervisor::Variable{"SKYPILOT_TASK_ID", "sky-0a1b_a-b-c_1"}));
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

TEST_F(StepTest, LetsVariablesOfTheTaskWinOverBashrc) {
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

TEST_F(StepTest, DefinesTheFunctionOfCondaInThePath) {
  program("conda", "echo \"$HOME/conda\"");
  std::filesystem::create_directories(home_.path("conda/etc/profile.d"));
  home_.write("conda/etc/profile.d/conda.sh", "conda() { echo \"function $*\"; }\n");
  EXPECT_EQ(run("conda activate x\n").output, "function activate x\n");
}

TEST_F(StepTest, RunsCondaAsAProgramWhereThereIsNoFunction) {
  program("conda", "echo \"program $*\"");
  EXPECT_EQ(run("conda activate x\n").output, "program activate x\n");
}

TEST_F(StepTest, ReportsErrorsWithTheLineOfTheTaskFile) {
  const test::ShellRun ran = run("exec 2>&1\necho $LINENO\nno-such-program-here\n", {}, 20);
  EXPECT_THAT(ran.output, HasSubstr("21\n"));
  EXPECT_THAT(ran.output, HasSubstr("line 22: no-such-program-here"));
  EXPECT_EQ(ran.exit_status, 127);
  EXPECT_EQ(run("echo $LINENO\n").output, "1\n");
  EXPECT_EQ(run("echo $LINENO\n", {}, 2).output, "2\n");
}

TEST_F(StepTest, LeavesNothingOfPodrunInTheShell) {
  EXPECT_THAT(run("set\n").output, Not(HasSubstr("podrun_names=")));
  EXPECT_THAT(run("echo $#-$1\n").output, "0-\n");
}

}  // namespace
}  // namespace podrun::tasks
