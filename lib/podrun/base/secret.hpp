// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace podrun {

/// A password or a passphrase. Its memory is overwritten when it is no longer needed.
class Secret {
 public:
  /// Takes the text and overwrites what is left of it at its old place.
  explicit Secret(std::string&& text);

  const std::string& text() const { return *text_; }

 private:
  struct Wipe {
    void operator()(std::string* text) const;
  };
  std::unique_ptr<std::string, Wipe> text_;  // so that moving it leaves no copy behind
};

/// From now on, no core file and no debugger of the same user shows this process's memory (prctl(2),
/// PR_SET_DUMPABLE). Programs that it starts are not affected.
void hide_memory();

}  // namespace podrun
