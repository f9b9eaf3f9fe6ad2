// SPDX-License-Identifier: Apache-2.0
#include "podrun/tasks/step.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/tasks/scripts.hpp"

namespace podrun::tasks {
namespace {

/// A file for bash: two lines of podrun's, then the text, on the lines that it has in the task file.
std::string step_file(const config::TaskText& text, const std::vector<remote::Variable>& environment) {
  constexpr std::size_t kFirstLine = 3;
  std::string names;
  for (const remote::Variable& variable : environment) {
    if (!names.empty()) names += ' ';
    names += variable.name;
  }
  std::string file =
      fmt::format("#!/usr/bin/env bash\npodrun_names={};{}\n", shell_quote(names), kStepScript);
  if (text.line > kFirstLine) file.append(text.line - kFirstLine, '\n');
  return file + text.text + "\n";
}

}  // namespace

std::string_view name_of(Step step) { return step == Step::setup ? "setup" : "run"; }

remote::Command step_command(const Task& task, Step step, const std::string& task_id) {
  remote::Command command;
  command.environment = task.environment;
  command.environment.push_back({"SKYPILOT_TASK_ID", task_id, false});
  const config::TaskText& text = step == Step::setup ? task.setup : task.run;
  command.what = remote::Script{std::string(name_of(step)), step_file(text, command.environment), {}};
  return command;
}

std::string make_task_id(const Task& task, std::string_view random) {
  std::string name = task.name;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return !is_plain && c != '.' && c != '-';
      },
      '-');
  return fmt::format("sky-{}_{}_1", random, name);
}

}  // namespace podrun::tasks
