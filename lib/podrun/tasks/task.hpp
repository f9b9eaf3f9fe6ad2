// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/config/task_file.hpp"
#include "podrun/supervisor/command.hpp"

// A task file with the values of its variables: what is copied, and the commands of its steps. Pure.
namespace podrun::tasks {

/// The directory in which `setup` and `run` run, and to which `workdir` is copied.
inline constexpr std::string_view kWorkdir = "~/sky_workdir";

/// Local files that are copied to every host.
struct Copy {
  std::string source;  ///< a path of this machine; a relative one counts from the current directory
  std::string target;  ///< a path of the hosts; a relative one counts from the home directory
  std::string where;   ///< for messages: `task.yaml:7: file_mounts`
};

/// A git repository whose files are the working directory.
struct Repository {
  std::string url;
  std::string ref;  ///< a branch, a tag or a commit; empty: its HEAD
};

struct Task {
  std::string name;  ///< the name of the task file, if it gives none
  std::optional<Copy> workdir;
  std::optional<Repository> repository = {};  ///< where the workdir's source comes from; it is empty then
  std::vector<Copy> mounts;
  std::vector<supervisor::Variable> environment;  ///< of `setup` and `run`, each name once
  config::TaskText setup;
  config::TaskText run;
};

/// The values that the task file does not have.
struct Given {
  std::vector<supervisor::Variable> variables =
      {};  ///< -e, --env-file and the configuration's; a later one wins
  /// A variable of podrun's own environment.
  std::function<std::optional<std::string>(const std::string& name)> env = {};
  std::string home = {};  ///< the user's, for paths that begin with `~`
};

/// Puts the values of the variables into the task. Throws UsageError: a variable without a value, a bad name,
/// storage of a cloud among the files.
Task make_task(const config::TaskFile& file, const Given& given);

/// Notes on SkyPilot's variables that setup or run uses, but that neither podrun nor the task sets.
std::vector<std::string> notes_on_variables(const config::TaskFile& file, const Task& task);

/// Throws UsageError if the task is for another number of hosts.
void check_num_nodes(const config::TaskFile& file, std::size_t hosts);

/// Replaces `$NAME` and `${NAME}` by their values; names without a value stay as they are.
std::string substitute(std::string_view text,
                       const std::function<const std::string*(std::string_view name)>& value_of);

enum class Step { setup, run };

/// `setup` or `run`, as the task file has it.
std::string_view name_of(Step step);

/// The step as a command for the hosts: bash with the user's .bashrc, in ~/sky_workdir, with SkyPilot's
/// variables. Error messages of bash have the line numbers of the task file. `task_id`: SKYPILOT_TASK_ID.
supervisor::Command step_command(const Task& task, Step step, const std::string& task_id);

/// A name for this start of the task, `sky-<random>_<name>_1`, equal on all hosts.
std::string make_task_id(const Task& task, std::string_view random);

}  // namespace podrun::tasks
