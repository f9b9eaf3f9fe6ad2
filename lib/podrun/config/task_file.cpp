// SPDX-License-Identifier: Apache-2.0
// Reads a task file into plain values with their line numbers. Collects SkyPilot's cloud-only keys, or
// refuses them if the task could not run without them.
#include "podrun/config/task_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/config/yaml_file.hpp"

namespace podrun::config {
namespace {

using Pair = YamlFile::Pair;

constexpr std::string_view kExpected = "name, workdir, num_nodes, file_mounts, envs, secrets, setup or run";

/// Keys that choose machines, or belong to SkyPilot's own servers.
constexpr std::array<std::string_view, 12> kIgnored = {
    "resources",           "service", "pool",    "config",    "experimental",      "event_callback",
    "file_mounts_mapping", "inputs",  "outputs", "_metadata", "api_server_access", "api_access"};

struct Refused {
  std::string_view key;
  std::string_view reason;
};
constexpr std::array kRefused = {
    Refused{"volumes", "podrun mounts no volumes (mount them in setup)"},
    Refused{"volume_mounts", "podrun mounts no volumes (mount them in setup)"},
    Refused{"managed_secrets", "podrun stores no secrets (write secrets: {NAME: }, and give it by -e NAME)"},
};

/// SkyPilot's text for a boolean of YAML 1.1 (https://yaml.org/type/bool.html), which SkyPilot reads; null
/// for other text.
const char* boolean_text(const std::string& text) {
  constexpr std::array<std::string_view, 9> kTrue = {"yes",  "Yes", "YES", "true", "True",
                                                     "TRUE", "on",  "On",  "ON"};
  constexpr std::array<std::string_view, 9> kFalse = {"no",    "No",  "NO",  "false", "False",
                                                      "FALSE", "off", "Off", "OFF"};
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return "True";
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return "False";
  return nullptr;
}

class TaskReader {
 public:
  /// `text` must outlive it.
  TaskReader(const std::string& text, const std::string& path, const YAML::Node& document)
      : file_(path, document), lines_(split(text, '\n')) {
    task_.path = path;
  }

  TaskFile read() {
    for (const Pair& pair : file_.pairs(kExpected)) read(pair);
    return std::move(task_);
  }

 private:
  using Read = void (TaskReader::*)(const Pair&);

  static const std::map<std::string_view, Read>& keys() {
    static const std::map<std::string_view, Read> kKeys = {
        {"name", &TaskReader::read_name},           {"workdir", &TaskReader::read_workdir},
        {"num_nodes", &TaskReader::read_num_nodes}, {"file_mounts", &TaskReader::read_mounts},
        {"envs", &TaskReader::read_envs},           {"secrets", &TaskReader::read_secrets},
        {"setup", &TaskReader::read_setup},         {"run", &TaskReader::read_run}};
    return kKeys;
  }

  void read(const Pair& pair) {
    const auto known = keys().find(pair.key);
    if (known != keys().end()) {
      (this->*known->second)(pair);
    } else if (std::find(kIgnored.begin(), kIgnored.end(), pair.key) != kIgnored.end()) {
      task_.ignored.push_back(pair.key);
      if (pair.key == "resources") find_image(pair.value, pair.line);
      find_hooks(pair.value, pair.key);
    } else {
      refuse(pair);
    }
  }

  [[noreturn]] void refuse(const Pair& pair) const {
    std::vector<std::string_view> names(kIgnored.begin(), kIgnored.end());
    for (const auto& [name, read] : keys()) names.push_back(name);
    for (const Refused& refused : kRefused) {
      if (refused.key == pair.key) file_.fail(pair.line, fmt::format("{}: {}", pair.key, refused.reason));
      names.push_back(refused.key);
    }
    const auto nearest = nearest_name(pair.key, names);
    file_.fail(pair.line, fmt::format("unknown key \"{}\" ({})", pair.key,
                                      nearest ? fmt::format("did you mean {}?", *nearest)
                                              : fmt::format("expected {}", kExpected)));
  }

  void read_name(const Pair& pair) {
    if (!pair.value.IsNull()) task_.name = file_.text(pair.value, pair.key, pair.line);
  }

  /// `image_id: docker:NAME`, at any depth: below a region, or in a list of choices.
  void find_image(const YAML::Node& node, std::size_t line) {
    constexpr std::string_view kDocker = "docker:";
    for (const auto& item : node) {
      const YAML::Node& value = node.IsMap() ? item.second : item;
      if (value.IsScalar() && value.Scalar().starts_with(kDocker) && task_.image.empty()) {
        task_.image = value.Scalar().substr(kDocker.size());
        task_.image_line = YamlFile::line_of(value, line);
      } else if (value.IsMap() || value.IsSequence()) {
        find_image(value, line);
      }
    }
  }

  /// Lifecycle hooks: commands that a cloud runs before it stops a machine, such as `autostop: {hook:
  /// ./save.sh}`.
  void find_hooks(const YAML::Node& node, const std::string& path) {
    if (!node.IsMap() && !node.IsSequence()) return;
    for (const auto& item : node) {
      if (!node.IsMap()) {
        find_hooks(item, path);
        continue;
      }
      const std::string key = item.first.IsScalar() ? item.first.Scalar() : "";
      const std::string name = fmt::format("{}.{}", path, key);
      if (key != "hook" && key != "hooks") {
        find_hooks(item.second, name);
      } else if (!item.second.IsNull() && std::ranges::find(task_.hooks, name) == task_.hooks.end()) {
        task_.hooks.push_back(name);
      }
    }
  }

  void read_repository(const Pair& workdir) {
    TaskMount mount{.target = {}, .source = {}, .is_repository = true, .line = workdir.line};
    for (const Pair& pair : file_.pairs(workdir.value, workdir.line, "url and ref")) {
      if (pair.key != "url" && pair.key != "ref")
        file_.fail(pair.line, fmt::format("workdir: unknown key \"{}\" (expected url and ref)", pair.key));
      std::string& value = pair.key == "url" ? mount.source : mount.git_ref;
      if (!pair.value.IsNull()) value = file_.text(pair.value, pair.key, pair.line);
    }
    if (mount.source.empty())
      file_.fail(workdir.line, "workdir: no url (expected the address of a git repository)");
    task_.workdir = std::move(mount);
  }

  void read_workdir(const Pair& pair) {
    if (pair.value.IsMap()) return read_repository(pair);
    if (pair.value.IsNull()) return;
    task_.workdir =
        TaskMount{.target = {}, .source = file_.text(pair.value, pair.key, pair.line), .line = pair.line};
    if (task_.workdir->source.find("://") != std::string::npos)
      file_.fail(pair.line, fmt::format("workdir: an address (a git repository is workdir: {{url: {}}})",
                                        task_.workdir->source));
    if (task_.workdir->source.empty())
      file_.fail(pair.line, "workdir: an empty path (expected a directory of this machine)");
  }

  void read_num_nodes(const Pair& pair) {
    if (pair.value.IsNull()) return;
    const std::string text = file_.text(pair.value, pair.key, pair.line);
    task_.num_nodes = to_number(text);
    task_.num_nodes_line = pair.line;
    if (task_.num_nodes.value_or(0) == 0)
      file_.fail(pair.line, fmt::format("num_nodes: bad number \"{}\" (expected 1 or more)", text));
  }

  void read_envs(const Pair& pair) { task_.envs = variables(pair); }

  /// A list has the names of secrets that are stored elsewhere.
  void read_secrets(const Pair& pair) {
    if (!pair.value.IsSequence()) {
      task_.secrets = variables(pair);
      return;
    }
    for (const YAML::Node& name : pair.value)
      task_.secrets.push_back(
          {file_.text(name, pair.key, pair.line), std::nullopt, YamlFile::line_of(name, pair.line)});
  }

  std::vector<TaskVariable> variables(const Pair& pair) const {
    std::vector<TaskVariable> variables;
    for (const Pair& variable : file_.pairs(pair.value, pair.line, "NAME: VALUE")) {
      variables.push_back({variable.key, std::nullopt, variable.line});
      if (variable.value.IsNull()) continue;
      const std::string where = fmt::format("{}: {}", pair.key, variable.key);
      std::string value = file_.text(variable.value, where, variable.line);
      const bool is_plain = variable.value.Tag() == "?";
      const char* const boolean = is_plain ? boolean_text(value) : nullptr;
      if (boolean) value = boolean;
      variables.back().value = std::move(value);
    }
    return variables;
  }

  void read_mounts(const Pair& pair) {
    for (const Pair& mount : file_.pairs(pair.value, pair.line, "a path of the hosts: a path here")) {
      const std::string where = fmt::format("{}: {}", pair.key, mount.key);
      if (mount.key.empty()) file_.fail(mount.line, "file_mounts: an empty path (expected one of the hosts)");
      if (mount.value.IsMap()) {
        task_.mounts.push_back(storage(mount));
        continue;
      }
      const bool is_missing = mount.value.IsNull();
      task_.mounts.push_back({.target = mount.key,
                              .source = is_missing ? "" : file_.text(mount.value, where, mount.line),
                              .line = mount.line});
      if (task_.mounts.back().source.empty())
        file_.fail(mount.line, where + ": its source is missing (expected a path of this machine)");
    }
  }

  /// A bucket or a volume; or a path of this machine, of which a cloud makes a copy by way of a bucket.
  TaskMount storage(const Pair& mount) const {
    std::string name;
    std::string source;
    std::string mode;
    for (const Pair& pair : file_.pairs(mount.value, mount.line, "source: ADDRESS")) {
      if (pair.key == "source" && pair.value.IsSequence()) refuse_local_paths(mount, pair);
      if (!pair.value.IsScalar()) continue;
      if (pair.key == "source") source = file_.text(pair.value, pair.key, pair.line);
      if (pair.key == "name") name = file_.text(pair.value, pair.key, pair.line);
      if (pair.key == "mode") mode = file_.text(pair.value, pair.key, pair.line);
    }
    const bool is_copy = mode == "COPY" && !source.empty() && source.find("://") == std::string::npos;
    return {.target = mount.key,
            .source = source.empty() ? name : source,
            .is_storage = !is_copy,
            .line = mount.line};
  }

  /// A list of paths, each of which SkyPilot copies to a place below the target.
  void refuse_local_paths(const Pair& mount, const Pair& source) const {
    for (const YAML::Node& path : source.value) {
      if (!path.IsScalar() || path.Scalar().find("://") != std::string::npos) return;
    }
    file_.fail(
        source.line,
        fmt::format("file_mounts: {0}: a list of paths of this machine (write them one by one: {0}/NAME: "
                    "PATH)",
                    mount.key));
  }

  void read_setup(const Pair& pair) { task_.setup = script(pair); }
  void read_run(const Pair& pair) { task_.run = script(pair); }

  TaskText script(const Pair& pair) const {
    if (pair.value.IsNull()) return {};
    TaskText script{file_.text(pair.value, pair.key, pair.line), YamlFile::line_of(pair.value, pair.line)};
    if (is_literal(pair.value.Mark())) ++script.line;
    if (trim_space(script.text).empty()) script.text.clear();
    return script;
  }

  /// Whether the scalar is `|` and the lines after it, which YAML keeps as they are.
  bool is_literal(const YAML::Mark& mark) const {
    if (mark.is_null() || static_cast<std::size_t>(mark.line) >= lines_.size()) return false;
    const std::string_view line = lines_[static_cast<std::size_t>(mark.line)];
    return static_cast<std::size_t>(mark.column) < line.size() &&
           line[static_cast<std::size_t>(mark.column)] == '|';
  }

  YamlFile file_;
  std::vector<std::string_view> lines_;
  TaskFile task_;
};

/// Whether the document is only about the tasks that follow: the name of a pipeline or of a job group.
bool is_heading(const YAML::Node& document) {
  constexpr std::array<std::string_view, 3> kKeys = {"name", "execution", "primary_tasks"};
  if (!document.IsMap() || !document["name"]) return false;
  return std::all_of(document.begin(), document.end(), [&](const auto& pair) {
    return pair.first.IsScalar() && std::ranges::find(kKeys, pair.first.Scalar()) != kKeys.end();
  });
}

bool runs_together(const YAML::Node& heading) {
  return heading["execution"] && heading["execution"].IsScalar() &&
         heading["execution"].Scalar() == "parallel";
}

}  // namespace

TaskFile parse_task_file(const std::string& text, const std::string& path) {
  std::vector<YAML::Node> documents = YamlFile::load_documents(text, path);
  const bool has_heading = documents.size() > 1 && is_heading(documents.front());
  const bool is_group = has_heading && runs_together(documents.front());
  if (has_heading) documents.erase(documents.begin());
  if (documents.size() > 1) {
    const char* const what = is_group ? "job group" : "pipeline";
    const char* const how =
        is_group ? "launch them at the same time, each with -H and --detach" : "launch them in turn";
    YamlFile(path, documents[1])
        .fail(YamlFile::line_of(documents[1], 1),
              fmt::format("a {} of {} tasks (podrun launches one: write each to a file of its own, and {})",
                          what, documents.size(), how));
  }
  return TaskReader(text, path, documents.empty() ? YAML::Node() : documents.front()).read();
}

}  // namespace podrun::config
