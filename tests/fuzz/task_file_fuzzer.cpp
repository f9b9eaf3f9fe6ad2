// SPDX-License-Identifier: Apache-2.0
// Any text as a task file: UsageError that names the file and a line, or a task whose parts have lines and no
// NUL byte. With values for its variables it becomes a task, or UsageError again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "podrun/base/error.hpp"
#include "podrun/config/task_file.hpp"
#include "podrun/supervisor/environment.hpp"
#include "podrun/tasks/task.hpp"

namespace {

using namespace podrun;

void expect(bool condition) {
  if (!condition) std::abort();
}

void check_line(std::string_view error) {
  constexpr std::string_view kPath = "t.yaml:";
  expect(error.starts_with(kPath));
  error.remove_prefix(kPath.size());
  const std::size_t digits = error.find_first_not_of("0123456789");
  expect(digits != 0 && error.front() != '0' && error.substr(digits).starts_with(": "));
}

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

void check_file(const config::TaskFile& file) {
  for (const auto* variables : {&file.envs, &file.secrets}) {
    for (const config::TaskVariable& variable : *variables)
      expect(variable.line != 0 && !has_nul(variable.name) && !has_nul(variable.value.value_or("")));
  }
  for (const config::TaskMount& mount : file.mounts)
    expect(mount.line != 0 && !mount.target.empty() && !has_nul(mount.source));
  for (const config::TaskText* text : {&file.setup, &file.run})
    expect(text->text.empty() || (text->line != 0 && !has_nul(text->text)));
  expect(file.num_nodes.value_or(1) > 0);
}

void check_task(const config::TaskFile& file) {
  const tasks::Task task = tasks::make_task(
      file, {.variables = {}, .env = [](const std::string&) { return "value"; }, .home = "/home/ada"});
  for (const supervisor::Variable& variable : task.environment)
    expect(supervisor::is_variable_name(variable.name));
  for (const tasks::Step step : {tasks::Step::setup, tasks::Step::run}) {
    const supervisor::Command command = tasks::step_command(task, step, tasks::make_task_id(task, "0"));
    const auto& script = std::get<supervisor::Script>(command.what);
    const config::TaskText& text = step == tasks::Step::setup ? task.setup : task.run;
    expect(script.content.ends_with(text.text + "\n"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const config::TaskFile file = config::parse_task_file(std::string(data, data + size), "t.yaml");
    check_file(file);
    check_task(file);
  } catch (const UsageError& error) {
    check_line(error.what());
  }
  return 0;
}
