// SPDX-License-Identifier: Apache-2.0
#include "commands/answers.hpp"

#include <system_error>

#include "podrun/output/escape.hpp"

namespace podrun::commands {

int answer(const std::string& text, output::Terminal& terminal) {
  terminal.append(StreamId::out, {text});
  terminal.flush();
  const std::error_code error = terminal.error(StreamId::out);
  if (!error) return 0;
  if (error != std::errc::broken_pipe) say({"cannot write standard output: " + error.message()}, terminal);
  return 1;
}

void say(const std::vector<std::string>& notes, output::Terminal& terminal) {
  for (const std::string& note : notes)
    terminal.append(StreamId::err, {"podrun: ", output::escape_controls(note), "\n"});
  terminal.flush();
}

}  // namespace podrun::commands
