// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace podrun {

/// A password or a passphrase. Its memory is overwritten when it is no longer needed.
class Secret {
 public:
  /// Takes the text and overwrites its old memory.
  explicit Secret(std::string&& text);

  const std::string& text() const { return *text_; }

 private:
  struct Wipe {
    void operator()(std::string* text) const;
  };
  std::unique_ptr<std::string, Wipe> text_;  ///< a pointer, so that moving a Secret copies no text
};

/// Hides this process's memory from core files and from debuggers of its user (prctl(2), PR_SET_DUMPABLE).
/// Programs that it starts are not affected.
void hide_memory();

}  // namespace podrun
