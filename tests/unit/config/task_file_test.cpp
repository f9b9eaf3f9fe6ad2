// SPDX-License-Identifier: Apache-2.0
#include "podrun/config/task_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/usage_error.hpp"

namespace podrun::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TaskFile parse_tasks(const std::string& text) { return parse_task_file(text, "t.yaml"); }

std::string task_error(const std::string& text) {
  return usage_error([&] { parse_tasks(text); });
}

TEST(TaskFileTest, ReadsTheKeysThatPodrunObeys) {
  const TaskFile file = parse_tasks(
      "name: train\n"
      "workdir: ./code\n"
      "num_nodes: 4\n"
      "file_mounts:\n"
      "  ~/vocab: ./vocab\n"
      "  /data/x: ~/x\n"
      "setup: pip install -r requirements.txt\n"
      "run: |\n"
      "  python train.py\n"
      "  echo done\n");
  EXPECT_EQ(file.path, "t.yaml");
  EXPECT_EQ(file.name, "train");
  ASSERT_TRUE(file.workdir);
  EXPECT_EQ(file.workdir->source, "./code");
  EXPECT_EQ(file.workdir->line, 2U);
  EXPECT_EQ(file.num_nodes, 4U);
  EXPECT_EQ(file.num_nodes_line, 3U);
  ASSERT_EQ(file.mounts.size(), 2U);
  EXPECT_EQ(file.mounts[0].target, "~/vocab");
  EXPECT_EQ(file.mounts[0].source, "./vocab");
  EXPECT_EQ(file.mounts[1].line, 6U);
  EXPECT_EQ(file.setup.text, "pip install -r requirements.txt");
  EXPECT_EQ(file.run.text, "python train.py\necho done\n");
  EXPECT_THAT(file.ignored, IsEmpty());
}

TEST(TaskFileTest, EveryKeyMayBeMissingOrEmpty) {
  for (const char* text :
       {"", "# nothing\n", "{}\n", "name:\nworkdir:\nnum_nodes:\nfile_mounts:\nenvs:\nsecrets:\n",
        "setup:\nrun:\n", "setup: |\n  \n\nrun: ''\n"}) {
    const TaskFile file = parse_tasks(text);
    EXPECT_EQ(file.name, "") << text;
    EXPECT_FALSE(file.workdir || file.num_nodes) << text;
    EXPECT_THAT(file.mounts, IsEmpty()) << text;
    EXPECT_EQ(file.setup.text + file.run.text, "") << text;
  }
}

TEST(TaskFileTest, KnowsTheLinesOfLiteralText) {
  const TaskFile file = parse_tasks(
      "setup: |  # comment\n"
      "\n"
      "  one\n"
      "run:\n"
      "  |-\n"
      "  two\n");
  EXPECT_EQ(file.setup.text, "\none\n");
  EXPECT_EQ(file.setup.line, 2U);
  EXPECT_EQ(file.run.text, "two");
  EXPECT_EQ(file.run.line, 6U);
}

TEST(TaskFileTest, KnowsTheFirstLineOfOtherText) {
  EXPECT_EQ(parse_tasks("name: x\nrun: echo hi\n").run.line, 2U);
  EXPECT_EQ(parse_tasks("run: 'a | b'\n").run.line, 1U);
  EXPECT_EQ(parse_tasks("\n\nrun: \"| c\"\n").run.line, 3U);
}

TEST(TaskFileTest, AVariableWithoutAValueMustBeGiven) {
  const TaskFile file =
      parse_tasks("envs:\n  A: 1\n  B:\n  C: ''\n  D: null\n  E: ~\nsecrets:\n  F: x y\n  G: null\n");
  std::vector<std::string> required;
  for (const auto* variables : {&file.envs, &file.secrets}) {
    for (const TaskVariable& variable : *variables) {
      if (!variable.value) required.push_back(variable.name);
    }
  }
  EXPECT_THAT(required, ElementsAre("B", "D", "E", "G"));
  EXPECT_EQ(file.envs[2].value, "");
  EXPECT_EQ(file.envs[0].value, "1");
  EXPECT_EQ(file.secrets[0].value, "x y");
  EXPECT_EQ(file.secrets[1].line, 9U);
}

TEST(TaskFileTest, AListOfSecretsHasTheirNames) {
  const TaskFile file = parse_tasks("secrets: [HF_TOKEN, WANDB_API_KEY]\n");
  ASSERT_EQ(file.secrets.size(), 2U);
  EXPECT_EQ(file.secrets[1].name, "WANDB_API_KEY");
  EXPECT_FALSE(file.secrets[1].value);
}

// SkyPilot reads YAML 1.1 and writes its values as Python does.
TEST(TaskFileTest, BooleansAreWrittenAsSkyPilotWritesThem) {
  const TaskFile file = parse_tasks("envs: {A: true, B: off, C: 'true', D: TRUE, E: 1e-4, F: truth}\n");
  std::vector<std::string> values;
  for (const TaskVariable& variable : file.envs) values.push_back(variable.value.value_or(""));
  EXPECT_THAT(values, ElementsAre("True", "False", "true", "True", "1e-4", "truth"));
}

TEST(TaskFileTest, CollectsWhatOnlyACloudCanDo) {
  const TaskFile file = parse_tasks(
      "resources:\n  accelerators: {L4:8, A100:4}\n  any_of:\n    - infra: aws\n"
      "service:\n  replicas: 2\nconfig: {kubernetes: {provision_timeout: 600}}\npool: {workers: 3}\nrun: "
      "x\n");
  EXPECT_THAT(file.ignored, ElementsAre("resources", "service", "config", "pool"));
  EXPECT_EQ(file.run.text, "x");
}

TEST(TaskFileTest, NamesEachHookThatWillNotRun) {
  const TaskFile file = parse_tasks(
      "config: {hooks: [{run: ./save.sh, events: [down]}]}\n"
      "resources: {hooks: [], autostop: {hook: ./save.sh}, any_of: [{autostop: {hook: x}}]}\nrun: x\n");
  EXPECT_THAT(file.hooks, ElementsAre("config.hooks", "resources.hooks", "resources.autostop.hook",
                                      "resources.any_of.autostop.hook"));
}

TEST(TaskFileTest, AJobGroupIsNotLaunchedInTurn) {
  const std::string error = task_error(
      "name: g\nexecution: parallel\nprimary_tasks: [a]\n---\nname: a\nrun: x\n---\nname: b\nrun: y\n");
  EXPECT_THAT(error, HasSubstr("a job group of 2 tasks"));
  EXPECT_THAT(error, HasSubstr("at the same time"));
}

TEST(TaskFileTest, UnknownKeysAreErrorsWithTheNearestKey) {
  EXPECT_EQ(task_error("name: x\nsetpu: y\n"), "t.yaml:2: unknown key \"setpu\" (did you mean setup?)");
  EXPECT_EQ(task_error("env: {A: 1}\n"), "t.yaml:1: unknown key \"env\" (did you mean envs?)");
  EXPECT_EQ(task_error("Run: x\n"), "t.yaml:1: unknown key \"Run\" (did you mean run?)");
  EXPECT_EQ(task_error("file_mount: {a: b}\n"),
            "t.yaml:1: unknown key \"file_mount\" (did you mean file_mounts?)");
  EXPECT_THAT(task_error("qqqqqqqq: x\n"),
              StartsWith("t.yaml:1: unknown key \"qqqqqqqq\" (expected name, workdir"));
}

TEST(TaskFileTest, RefusesWhatATaskWouldMiss) {
  EXPECT_THAT(task_error("volumes: {/mnt: my-volume}\n"),
              StartsWith("t.yaml:1: volumes: podrun mounts no volumes"));
  EXPECT_THAT(
      task_error("workdir: https://github.com/a/b\n"),
      StartsWith(
          "t.yaml:1: workdir: an address (a git repository is workdir: {url: https://github.com/a/b}"));
}

TEST(TaskFileTest, ReadsTheAddressOfARepository) {
  const TaskFile file = parse_tasks("\nworkdir:\n  url: https://github.com/a/b\n  ref: main\n");
  ASSERT_TRUE(file.workdir);
  EXPECT_TRUE(file.workdir->is_repository);
  EXPECT_EQ(file.workdir->source, "https://github.com/a/b");
  EXPECT_EQ(file.workdir->git_ref, "main");
  EXPECT_THAT(task_error("workdir: {ref: main}\n"), StartsWith("t.yaml:1: workdir: no url"));
  EXPECT_THAT(task_error("workdir:\n  url: a\n  rev: b\n"),
              StartsWith("t.yaml:3: workdir: unknown key \"rev\""));
}

TEST(TaskFileTest, FindsTheImageThatATaskIsFor) {
  EXPECT_EQ(parse_tasks("resources:\n  image_id: docker:ubuntu:22.04\n").image, "ubuntu:22.04");
  const TaskFile file =
      parse_tasks("resources:\n  any_of:\n    - infra: aws\n      image_id: {us: ami-1, eu: 'docker:x'}\n");
  EXPECT_EQ(file.image, "x");
  EXPECT_EQ(file.image_line, 4U);
  EXPECT_EQ(parse_tasks("resources: {image_id: ami-0123}\n").image, "");
  EXPECT_THAT(task_error("resources: &r {any_of: [*r]}\n"), StartsWith("t.yaml:1: "));
}

TEST(TaskFileTest, ReadsMergeKeys) {
  const TaskFile file = parse_tasks("envs: &e {A: 1, B: 2}\nsecrets:\n  <<: *e\n  B: 3\n");
  ASSERT_EQ(file.secrets.size(), 2U);
  for (const TaskVariable& variable : file.secrets)
    EXPECT_EQ(variable.value, variable.name == "A" ? "1" : "3");
}

TEST(TaskFileTest, MarksStorage) {
  const TaskFile file = parse_tasks(
      "file_mounts:\n"
      "  /a: {source: s3://bucket, mode: MOUNT}\n"
      "  /b:\n"
      "    name: $BUCKET\n"
      "    mode: COPY\n"
      "  /c: s3://other\n"
      "  /d: {source: ./local, mode: COPY}\n");
  ASSERT_EQ(file.mounts.size(), 4U);
  EXPECT_TRUE(file.mounts[0].is_storage);
  EXPECT_EQ(file.mounts[0].source, "s3://bucket");
  EXPECT_TRUE(file.mounts[1].is_storage);
  EXPECT_EQ(file.mounts[1].source, "$BUCKET");
  EXPECT_FALSE(file.mounts[2].is_storage);
  EXPECT_FALSE(file.mounts[3].is_storage);
  EXPECT_EQ(file.mounts[3].source, "./local");
}

TEST(TaskFileTest, AsksForTheLocalPathsOfAListOneByOne) {
  EXPECT_THAT(task_error("file_mounts:\n  ~/a:\n    source: [./x, ./y]\n    mode: COPY\n"),
              StartsWith("t.yaml:3: file_mounts: ~/a: a list of paths of this machine"));
}

TEST(TaskFileTest, MayBeAPipelineOfOneTask) {
  EXPECT_EQ(parse_tasks("name: p\n---\nname: a\nrun: x\n").name, "a");
}

TEST(TaskFileTest, ErrorsNameTheLine) {
  EXPECT_THAT(task_error("run: [1\n"), StartsWith("t.yaml:2: not YAML: "));
  EXPECT_THAT(task_error("- run\n"), StartsWith("t.yaml:1: no \"key: value\""));
  EXPECT_THAT(task_error("echo hi\n"), StartsWith("t.yaml:1: no \"key: value\""));
  EXPECT_THAT(task_error("run: a\n---\nrun: b\n"), StartsWith("t.yaml:3: a pipeline of 2 tasks"));
  EXPECT_THAT(task_error("run: {a: b}\n"), StartsWith("t.yaml:1: run: no plain value"));
  EXPECT_THAT(task_error("envs:\n  A: [1]\n"), StartsWith("t.yaml:2: envs: A: no plain value"));
  EXPECT_THAT(task_error("envs: [A]\n"), StartsWith("t.yaml:1: no \"key: value\""));
  EXPECT_THAT(task_error("run: x\nrun: y\n"),
              StartsWith("t.yaml:2: \"run\" is there twice, first at line 1"));
  EXPECT_THAT(task_error("num_nodes: two\n"), StartsWith("t.yaml:1: num_nodes: bad number \"two\""));
  EXPECT_THAT(task_error("num_nodes: 0\n"), StartsWith("t.yaml:1: num_nodes: bad number \"0\""));
  EXPECT_THAT(task_error("file_mounts:\n  ~/x:\n"),
              StartsWith("t.yaml:2: file_mounts: ~/x: its source is missing"));
  EXPECT_THAT(task_error("run: \"a\\0b\"\n"), HasSubstr("a NUL byte"));
}

}  // namespace
}  // namespace podrun::config
