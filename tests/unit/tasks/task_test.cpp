// SPDX-License-Identifier: Apache-2.0
#include "podrun/tasks/task.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/usage_error.hpp"

namespace podrun::tasks {
namespace {

using remote::Variable;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A task of this text, in a world with these variables.
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

TEST(TaskTest, TakesItsNameFromTheFileIfItHasNone) {
  EXPECT_EQ(make("name: train\n").name, "train");
  EXPECT_EQ(make("run: x\n").name, "t");
}

TEST(TaskTest, GivenVariablesWin) {
  const Task task = make("envs: {A: 1, B: 2}\n", {{"B", "3"}, {"C", "4"}, {"B", "5"}});
  EXPECT_THAT(task.environment, ElementsAre(Variable{"A", "1"}, Variable{"B", "5"}, Variable{"C", "4"}));
}

TEST(TaskTest, ARequiredVariableComesFromTheUserOrFromPodrunsEnvironment) {
  const std::string text = "envs: {A: , B: null, C: ''}\n";
  const Task task = make(text, {{"A", "given"}, {"B", ""}}, {{"A", "here"}, {"C", "here"}});
  EXPECT_THAT(task.environment,
              ElementsAre(Variable{"A", "given"}, Variable{"B", ""}, Variable{"C", "here", true}));
  EXPECT_EQ(error_of("name: x\nenvs:\n  HF_TOKEN:\n"),
            "t.yaml:3: envs: HF_TOKEN has no value (give it: --env HF_TOKEN=VALUE, or set it here)");
  EXPECT_THAT(error_of("secrets: [A]\n", {}, {{"A", ""}}), StartsWith("t.yaml:1: secrets: A has no value"));
}

TEST(TaskTest, OnlyRequiredVariablesComeFromPodrunsEnvironment) {
  EXPECT_THAT(make("envs: {A: 1}\n", {}, {{"A", "here"}, {"B", "here"}}).environment,
              ElementsAre(Variable{"A", "1"}));
}

TEST(TaskTest, SecretsStaySecretHoweverTheyAreGiven) {
  const std::string text = "secrets: {A: x, B: , C: }\n";
  for (const Variable& variable : make(text, {{"A", "y"}, {"B", "z"}}, {{"C", "z"}}).environment)
    EXPECT_TRUE(variable.secret) << variable.name;
  EXPECT_TRUE(make("envs: {A: }\n", {{"A", "1", true}}).environment.front().secret);
}

TEST(TaskTest, ABadNameIsAnErrorWithItsLine) {
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

TEST(TaskTest, ARelativeTargetIsInTheWorkingDirectory) {
  const Task task = make("file_mounts: {data/x: ./x, '~': ./home, /y: ./y}\n");
  EXPECT_EQ(task.mounts[0].target, "~/sky_workdir/data/x");
  EXPECT_EQ(task.mounts[1].target, "~");
  EXPECT_EQ(task.mounts[2].target, "/y");
}

TEST(TaskTest, StorageOfACloudIsAnErrorThatSaysWhatToDo) {
  EXPECT_EQ(
      error_of("file_mounts:\n  /data: s3://bucket/x\n"),
      "t.yaml:2: file_mounts: /data: podrun mounts no storage of a cloud (copy it in setup: aws s3 sync "
      "s3://bucket/x /data)");
  EXPECT_THAT(error_of("envs: {B: 'gs://b'}\nfile_mounts:\n  ~/d: $B/c\n"),
              HasSubstr("(copy it in setup: gsutil -m rsync -r gs://b/c ~/d)"));
  EXPECT_THAT(
      error_of("envs: {B: out}\nfile_mounts:\n  /out: {name: $B, mode: MOUNT}\n"),
      HasSubstr("/out: podrun mounts no storage of a cloud (copy it in setup, or at the end of run)"));
  EXPECT_THAT(error_of("file_mounts: {/d: {source: 's3://b', mode: COPY}}\n"),
              HasSubstr("aws s3 sync s3://b /d"));
  EXPECT_EQ(error_of("file_mounts: {/d: 'a b://c', /e: './x://y'}\n"), "no error");
}

TEST(TaskTest, TheNumberOfHostsMustBeThatOfTheFile) {
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

}  // namespace
}  // namespace podrun::tasks
