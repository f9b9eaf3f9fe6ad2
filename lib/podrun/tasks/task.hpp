// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/config/task_file.hpp"
#include "podrun/remote/command.hpp"

// What a task file means: its variables, files and texts, once the values of its variables are known. Pure.
namespace podrun::tasks {

/// The directory in which `setup` and `run` run, and to which `workdir` is copied.
inline constexpr std::string_view kWorkdir = "~/sky_workdir";

/// Local files that are copied to every host.
struct Copy {
  std::string source;  ///< a path of this machine; a relative one counts from the current directory
  std::string target;  ///< a path of the hosts; a relative one counts from the home directory
  std::string where;   ///< for messages: `task.yaml:7: file_mounts`
};

struct Task {
  std::string name;  ///< that of the file, if it gives none
  std::optional<Copy> workdir;
  std::vector<Copy> mounts;
  std::vector<remote::Variable> environment;  ///< of `setup` and `run`, each name once
  config::TaskText setup;
  config::TaskText run;
};

/// What the user says beside the task file.
struct Given {
  std::vector<remote::Variable> variables = {};  ///< -e, --env-file and the configuration's; a later one wins
  /// A variable of podrun's own environment.
  std::function<std::optional<std::string>(const std::string& name)> env = {};
  std::string home = {};  ///< of the user, for paths that begin with `~`
};

/// Puts the values of the variables into the task. Throws UsageError: a variable without a value, a bad name,
/// storage of a cloud among the files.
Task make_task(const config::TaskFile& file, const Given& given);

/// Throws UsageError if the task is for another number of hosts.
void check_num_nodes(const config::TaskFile& file, std::size_t hosts);

/// The text with the values of `$NAME` and `${NAME}`; those without a value stay as they are.
std::string substitute(std::string_view text,
                       const std::function<const std::string*(std::string_view name)>& value_of);

}  // namespace podrun::tasks
