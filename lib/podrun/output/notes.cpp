// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/notes.hpp"

#include <system_error>

#include "podrun/output/escape.hpp"

namespace podrun::output {

int print_answer(const std::string& text, Terminal& terminal) {
  terminal.append(StreamId::out, {text});
  terminal.flush();
  const std::error_code error = terminal.error(StreamId::out);
  if (!error) return 0;
  if (error != std::errc::broken_pipe)
    print_notes({"cannot write standard output: " + error.message()}, terminal);
  return 1;
}

void print_notes(const std::vector<std::string>& notes, Terminal& terminal) {
  for (const std::string& note : notes)
    terminal.append(StreamId::err, {"podrun: ", escape_controls(note), "\n"});
  terminal.flush();
}

}  // namespace podrun::output
