// SPDX-License-Identifier: Apache-2.0
// Turns a task file into a task: chooses the value of each variable, and puts the values into the paths.
// Makes the commands of its steps.
#include "podrun/tasks/task.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/supervisor/environment.hpp"
#include "podrun/tasks/scripts.hpp"

namespace podrun::tasks {
namespace {

constexpr std::string_view kNameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/// Variables by name, in the order in which they were named first.
class Environment {
 public:
  void set(supervisor::Variable variable) {
    const auto [place, is_new] = places_.emplace(variable.name, variables_.size());
    if (is_new) {
      variables_.push_back(std::move(variable));
    } else {
      variables_[place->second] = std::move(variable);
    }
  }
  const supervisor::Variable* find(std::string_view name) const {
    const auto place = places_.find(name);
    return place == places_.end() ? nullptr : &variables_[place->second];
  }
  std::vector<supervisor::Variable> take() { return std::move(variables_); }

 private:
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<supervisor::Variable> variables_;
};

/// One way to copy from the storage of a cloud, by the beginning of its address.
struct CloudTool {
  std::string_view scheme;
  std::string_view command;  ///< {0}: the address, {1}: the path on the hosts
};
constexpr std::array kCloudTools = {
    CloudTool{"s3://", "aws s3 sync {0} {1}"},
    CloudTool{"gs://", "gsutil -m rsync -r {0} {1}"},
    CloudTool{"http://", "curl -fsSL -o {1} {0}"},
    CloudTool{"https://", "curl -fsSL -o {1} {0}"},
};

bool is_address(std::string_view text) {
  const std::size_t end = text.find("://");
  return end != std::string_view::npos && end > 0 &&
         text.substr(0, end).find_first_of("/ ") == std::string_view::npos;
}

/// Says that storage of a cloud cannot be copied, and how to get its content.
std::string describe_storage(const Copy& copy) {
  std::string advice = "copy it in setup, or at the end of run";
  const auto tool = std::find_if(kCloudTools.begin(), kCloudTools.end(), [&copy](const CloudTool& each) {
    return std::string_view(copy.source).starts_with(each.scheme);
  });
  if (tool != kCloudTools.end())
    advice = "copy it in setup: " + fmt::format(fmt::runtime(tool->command), copy.source, copy.target);
  return fmt::format("{}: {}: podrun cannot mount cloud storage ({})", copy.where, copy.target, advice);
}

class Maker {
 public:
  Maker(const config::TaskFile& file, const Given& given) : file_(file), given_(given) {}

  Task make() {
    set_variables();
    Task task{.name = file_.name.empty() ? std::filesystem::path(file_.path).stem().string() : file_.name,
              .workdir = std::nullopt,
              .mounts = {},
              .environment = {},
              .setup = file_.setup,
              .run = file_.run};
    if (file_.workdir) {
      task.workdir = copy_of(*file_.workdir, "workdir");
      task.workdir->target = kWorkdir;
      if (file_.workdir->is_repository)
        task.repository = {std::exchange(task.workdir->source, ""), filled_in(file_.workdir->git_ref)};
    }
    std::vector<std::string> storage;
    for (const config::TaskMount& mount : file_.mounts) {
      task.mounts.push_back(copy_of(mount, "file_mounts"));
      check_target(task.mounts.back());
      if (mount.is_storage || is_address(task.mounts.back().source))
        storage.push_back(describe_storage(task.mounts.back()));
    }
    if (!storage.empty()) throw UsageError(join(storage, "; "));
    task.environment = environment_.take();
    return task;
  }

 private:
  void set_variables() {
    for (const config::TaskVariable& variable : file_.envs) set(variable, "envs", false);
    for (const config::TaskVariable& variable : file_.secrets) set(variable, "secrets", true);
    for (const supervisor::Variable& variable : given_.variables) {
      const supervisor::Variable* const named = environment_.find(variable.name);
      supervisor::Variable value = variable;
      value.secret = value.secret || (named && named->secret);
      environment_.set(std::move(value));
    }
  }

  void set(const config::TaskVariable& variable, std::string_view key, bool is_secret) {
    const std::string where = fmt::format("{}:{}: {}", file_.path, variable.line, key);
    if (!supervisor::is_variable_name(variable.name)) {
      throw UsageError(
          fmt::format("{}: bad name \"{}\" (expected letters, digits and _)", where, variable.name));
    }
    if (variable.value) {
      environment_.set({variable.name, *variable.value, is_secret});
    } else {
      environment_.set(value_of_required(variable.name, where, is_secret));
    }
  }

  /// The user's value, else the one in podrun's own environment, which counts as secret.
  supervisor::Variable value_of_required(const std::string& name, const std::string& where,
                                         bool is_secret) const {
    const auto& all = given_.variables;
    const auto found = std::find_if(all.rbegin(), all.rend(),
                                    [&name](const supervisor::Variable& each) { return each.name == name; });
    if (found != all.rend()) return {name, found->value, is_secret || found->secret};
    const std::optional<std::string> here = given_.env ? given_.env(name) : std::nullopt;
    if (here && !here->empty()) return {name, *here, true};
    throw UsageError(
        fmt::format("{}: {} has no value (give it: --env {}=VALUE, or set it here)", where, name, name));
  }

  Copy copy_of(const config::TaskMount& mount, std::string_view key) const {
    return {.source = with_home(filled_in(mount.source)),
            .target = below_workdir(filled_in(mount.target)),
            .where = fmt::format("{}:{}: {}", file_.path, mount.line, key)};
  }

  /// A variable that is left in a target would be a name on the hosts.
  void check_target(const Copy& copy) const {
    substitute(copy.target, [&](std::string_view name) -> const std::string* {
      const bool is_secret = environment_.find(name) != nullptr;
      throw UsageError(fmt::format("{}: {}: {} {} (expected {})", copy.where, copy.target, name,
                                   is_secret ? "is a secret, and paths are shown" : "has no value",
                                   is_secret ? "a variable of envs" : fmt::format("-e {}=VALUE", name)));
    });
  }

  /// Leaves secrets out: paths are shown.
  std::string filled_in(std::string_view text) const {
    return substitute(text, [this](std::string_view name) -> const std::string* {
      const auto is_it = [name](const config::TaskVariable& secret) { return secret.name == name; };
      if (std::any_of(file_.secrets.begin(), file_.secrets.end(), is_it)) return nullptr;
      const supervisor::Variable* const variable = environment_.find(name);
      return variable ? &variable->value : nullptr;
    });
  }

  std::string with_home(const std::string& path) const {
    const bool is_home = path == "~" || path.starts_with("~/");
    return is_home && !given_.home.empty() ? given_.home + path.substr(1) : path;
  }

  /// As in SkyPilot, relative targets are below the working directory.
  static std::string below_workdir(const std::string& target) {
    const bool is_home = target == "~" || target.starts_with("~/");
    const bool is_relative = !target.empty() && !target.starts_with('/') && !is_home;
    return is_relative ? fmt::format("{}/{}", kWorkdir, target) : target;
  }

  const config::TaskFile& file_;
  const Given& given_;
  Environment environment_;
};

constexpr const char* kTaskId = "SKYPILOT_TASK_ID";

/// SkyPilot's variables that a line uses without a value of its own for them, as `${NAME:-1}` has.
std::vector<std::string> sky_variables(std::string_view line) {
  constexpr std::string_view kPrefix = "SKYPILOT_";
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = line.find(kPrefix, at)) != line.npos;) {
    const std::size_t end = std::min(line.find_first_not_of(kNameLetters, at), line.size());
    const bool has_default = line.substr(end).starts_with(":") || line.substr(end).starts_with("-");
    const bool is_used = line.substr(0, at).ends_with('$') || line.substr(0, at).ends_with("${");
    if (is_used && !has_default) names.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return names;
}

/// A file for bash: a line of podrun's, then the text, whose lines have the numbers of the task file.
std::string step_file(const config::TaskText& text, const std::vector<supervisor::Variable>& environment) {
  std::string names;
  for (const supervisor::Variable& variable : environment) {
    if (!names.empty()) names += ' ';
    names += variable.name;
  }
  const std::string start = fmt::format("podrun_names={};{}", shell_quote(names), kStepScript);
  return start + (text.line > 1 ? std::string(text.line - 1, '\n') : ";") + text.text + "\n";
}

}  // namespace

Task make_task(const config::TaskFile& file, const Given& given) { return Maker(file, given).make(); }

std::vector<std::string> notes_on_variables(const config::TaskFile& file, const Task& task) {
  std::vector<std::string> notes;
  std::set<std::string> seen;
  for (const config::TaskText* text : {&task.setup, &task.run}) {
    std::string_view rest = text->text;
    for (std::size_t line = text->line; !rest.empty(); ++line) {
      for (const std::string& name : sky_variables(take_part(rest, '\n'))) {
        const auto is_it = [&name](const supervisor::Variable& each) { return each.name == name; };
        const bool is_set = kStepScript.find(name + "=") != kStepScript.npos || name == kTaskId ||
                            std::any_of(task.environment.begin(), task.environment.end(), is_it);
        if (is_set || !seen.insert(name).second) continue;
        notes.push_back(
            fmt::format("{}:{}: {} is not set here (-e {}=VALUE sets it)", file.path, line, name, name));
      }
    }
  }
  return notes;
}

void check_num_nodes(const config::TaskFile& file, std::size_t hosts) {
  if (!file.num_nodes || *file.num_nodes == hosts) return;
  throw UsageError(fmt::format(
      "{}:{}: num_nodes is {}, but the task would run on {} (choose {} with -H or "
      "--workers, or change num_nodes)",
      file.path, file.num_nodes_line, *file.num_nodes, count_hosts(hosts), count_hosts(*file.num_nodes)));
}

std::string substitute(std::string_view text,
                       const std::function<const std::string*(std::string_view name)>& value_of) {
  std::string result;
  while (!text.empty()) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    result += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const bool has_brace = text.substr(1).starts_with('{');
    const std::size_t start = has_brace ? 2 : 1;
    const std::size_t end = std::min(text.find_first_not_of(kNameLetters, start), text.size());
    const std::string_view name = text.substr(start, end - start);
    const bool is_closed = !has_brace || text.substr(end).starts_with('}');
    const std::string* const value =
        is_closed && supervisor::is_variable_name(name) ? value_of(name) : nullptr;
    const std::size_t size = value ? end + (has_brace ? 1 : 0) : 1;
    if (value) {
      result += *value;
    } else {
      result += '$';
    }
    text.remove_prefix(size);
  }
  return result;
}

std::string_view name_of(Step step) { return step == Step::setup ? "setup" : "run"; }

supervisor::Command step_command(const Task& task, Step step, const std::string& task_id) {
  supervisor::Command command;
  command.environment = task.environment;
  command.environment.push_back({kTaskId, task_id, false});
  const config::TaskText& text = step == Step::setup ? task.setup : task.run;
  command.what = supervisor::Script{
      std::string(name_of(step)), step_file(text, command.environment), {}, {"/usr/bin/env", "bash"}};
  return command;
}

std::string make_task_id(const Task& task, std::string_view random) {
  std::string name = task.name;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
        return !is_plain && c != '.' && c != '-';
      },
      '-');
  return fmt::format("sky-{}_{}_1", random, name);
}

}  // namespace podrun::tasks
