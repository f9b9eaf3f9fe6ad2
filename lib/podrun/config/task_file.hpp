// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// The content of a task file, with line numbers; tasks/ knows what it means. The format is SkyPilot's:
// https://docs.skypilot.co/en/latest/reference/yaml-spec.html
namespace podrun::config {

/// A variable of `envs` or `secrets`.
struct TaskVariable {
  std::string name;
  std::optional<std::string> value;  ///< none: must be given when the task is launched
  std::size_t line = 0;              ///< from 1
};

/// An entry of `file_mounts`, or `workdir` (without a target).
struct TaskMount {
  std::string target;          ///< a path of the hosts
  std::string source;          ///< a path of this machine or an address; storage without one: its name
  std::string git_ref = {};    ///< of a workdir that is cloned: a branch, a tag or a commit; empty: its HEAD
  bool is_storage = false;     ///< the entry is a map: a bucket or a volume of a cloud
  bool is_repository = false;  ///< the workdir is cloned from `source` with git
  std::size_t line = 0;
};

/// `setup` or `run`: text for bash.
struct TaskText {
  std::string text;      ///< empty: there is none
  std::size_t line = 0;  ///< of the text's first line in the file
};

struct TaskFile {
  std::string path;  ///< for messages
  std::string name;
  std::optional<TaskMount> workdir;
  std::optional<std::size_t> num_nodes;
  std::size_t num_nodes_line = 0;
  std::vector<TaskVariable> envs;
  std::vector<TaskVariable> secrets;
  std::vector<TaskMount> mounts;  ///< in the order of the file
  TaskText setup;
  TaskText run;
  std::string image;  ///< the container image in which a cloud would run it; empty: none
  std::size_t image_line = 0;
  std::vector<std::string> ignored;  ///< cloud-only keys
  std::vector<std::string> hooks;    ///< among them, what a cloud would run: `config.hooks`
};

/// Throws UsageError that begins `path:line: `: not YAML, an unknown key (with the nearest known one), a bad
/// value, or a cloud-only key without which the task would miss files.
TaskFile parse_task_file(const std::string& text, const std::string& path);

}  // namespace podrun::config
