// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "podrun/base/descriptor.hpp"

namespace podrun::output {

/// Where a user's lines come from. read() blocks, on a thread of its own; the others are for any thread.
class LineSource {
 public:
  LineSource();
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;
  virtual ~LineSource();

  /// The next line, without its newline. Nothing: the input has ended, or stop() was called.
  virtual std::optional<std::string> read(const std::string& prompt) = 0;
  /// Forgets the line that is being typed: Ctrl-C.
  void interrupt() { wake(Woken::interrupted); }
  /// Ends the present or the next read().
  void stop() { wake(Woken::stopped); }

 protected:
  enum class Woken { readable, interrupted, stopped };
  Woken wait_for_input(int descriptor);

 private:
  void wake(Woken reason);

  Descriptor event_;  // eventfd(2)
  std::atomic<Woken> reason_ = Woken::readable;
};

/// Lines of a file or pipe. The last one may lack its newline.
class PlainLines final : public LineSource {
 public:
  /// The caller owns the descriptor.
  explicit PlainLines(int descriptor) : descriptor_(descriptor) {}

  std::optional<std::string> read(const std::string& prompt) override;

 private:
  const int descriptor_;
  std::string text_;  ///< that was read and not returned
  bool ended_ = false;
};

}  // namespace podrun::output
