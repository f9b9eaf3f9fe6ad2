// SPDX-License-Identifier: Apache-2.0
// Any text is UsageError that names file and line, or variables that read back from quoted lines.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/supervisor/environment.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<podrun::supervisor::Variable> variables;
  try {
    variables = podrun::supervisor::parse_env_file(std::string(data, data + size), "file");
  } catch (const podrun::UsageError& error) {
    if (!std::string(error.what()).starts_with("file:")) std::abort();
    return 0;
  }
  std::string text;
  for (const podrun::supervisor::Variable& variable : variables) {
    if (!podrun::supervisor::is_variable_name(variable.name)) std::abort();
    if (variable.value.find('\0') != std::string::npos) std::abort();
    text += variable.name + '=' + podrun::shell_quote(variable.value) + '\n';
  }
  if (podrun::supervisor::parse_env_file(text, "again") != variables)
    std::abort();  // nothing may be thrown either
  return 0;
}
