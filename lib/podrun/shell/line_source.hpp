// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "podrun/base/descriptor.hpp"

namespace podrun::shell {

/// A line without its newline, or the reason why there is none. Pasted text is one line, with newlines in it.
struct ReadLine {
  enum class Kind { text, interrupted, ended };  ///< interrupted: by Ctrl-C; ended: also by stop()
  Kind kind = Kind::ended;
  std::string text = {};
};

/// The source of a user's lines. read() blocks, on a thread of its own; interrupt() and stop() are for any
/// thread.
class LineSource {
 public:
  LineSource();
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;
  virtual ~LineSource();

  virtual ReadLine read(const std::string& prompt) = 0;
  /// True if a further line has already arrived together with the last one: a terminal that does not mark
  /// pastes.
  virtual bool has_waiting_line() { return false; }
  /// Stores a whole command for the history.
  virtual void remember(const std::string& /*command*/) {}
  /// Discards an unfinished line: Ctrl-C.
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

  ReadLine read(const std::string& prompt) override;

 private:
  const int descriptor_;
  std::string text_;  ///< read and not yet returned
  bool ended_ = false;
};

}  // namespace podrun::shell
