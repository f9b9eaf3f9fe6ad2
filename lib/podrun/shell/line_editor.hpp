// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podrun/output/status_line.hpp"
#include "podrun/shell/line_source.hpp"

namespace podrun::shell {

/// The use of a LineEditor.
struct EditorPlan {
  std::string history_file = {};              ///< readable only by the user; empty: stores nothing
  std::vector<std::string> completions = {};  ///< first words that Tab completes
  std::string no_completion = {};             ///< shown at the first Tab that completes nothing
};

/// Lines typed and edited on the controlling terminal, with a history. Between two reads the terminal has its
/// own settings.
class LineEditor final : public LineSource {
 public:
  /// Throws UsageError without a terminal.
  LineEditor(EditorPlan plan, output::Charset charset);
  ~LineEditor() override;

  ReadLine read(const std::string& prompt) override;
  bool has_waiting_line() override;
  void remember(const std::string& command) override;

 private:
  struct Library;

  std::unique_ptr<Library> library_;
};

}  // namespace podrun::shell
