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
  std::optional<std::string> value;  ///< nothing: it has none here, and must be given
  std::size_t line = 0;              ///< from 1
};

/// An entry of `file_mounts`, or `workdir` (without a target).
struct TaskMount {
  std::string target;       ///< a path of the hosts
  std::string source;       ///< a path of this machine or an address; storage without one: its name
  bool is_storage = false;  ///< the entry is a map: a bucket or a volume of a cloud
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
  std::vector<std::string> ignored;  ///< keys that have a meaning only in a cloud
};

/// Throws UsageError that begins `path:line: `: no YAML, an unknown key (with the nearest one), a value of
/// the wrong kind, or a key that only a cloud can obey and without which the task would miss files.
TaskFile parse_task_file(const std::string& text, const std::string& path);

}  // namespace podrun::config
