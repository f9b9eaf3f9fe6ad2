// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "podrun/output/line_source.hpp"
#include "podrun/output/status_line.hpp"

namespace podrun::output {

/// Lines that a user types and edits on the controlling terminal, with a history. Between two reads the
/// terminal has its own settings.
class LineEditor final : public LineSource {
 public:
  /// `history_file`: a line each, for the user alone; empty: nothing is stored. Throws UsageError if there is
  /// no terminal.
  LineEditor(const std::string& history_file, Charset charset);
  ~LineEditor() override;

  std::optional<std::string> read(const std::string& prompt) override;

 private:
  struct Library;

  std::unique_ptr<Library> library_;
};

/// Keeps the last lines of a history file and makes it the user's alone. Nothing if there is none.
std::string read_history(const std::string& file);
/// Adds a line to the file, which it makes with its directory. A failure is ignored: a history is a
/// convenience.
void add_to_history(const std::string& file, const std::string& line);

}  // namespace podrun::output
