// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/remote/command.hpp"
#include "podrun/tasks/task.hpp"

namespace podrun::tasks {

enum class Step { setup, run };

/// `setup` or `run`, as the task file has it.
std::string_view name_of(Step step);

/// The step as a command for the hosts: bash with the user's .bashrc, in ~/sky_workdir, with SkyPilot's
/// variables. Error messages of bash have the line numbers of the task file. `task_id`: SKYPILOT_TASK_ID.
remote::Command step_command(const Task& task, Step step, const std::string& task_id);

/// A name for this start of the task, `sky-<random>_<name>_1`, the same on all hosts.
std::string make_task_id(const Task& task, std::string_view random);

}  // namespace podrun::tasks
