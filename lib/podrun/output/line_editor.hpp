// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "podrun/base/descriptor.hpp"
#include "podrun/output/status_line.hpp"

namespace podrun::output {

/// The source of a user's lines. read() blocks, on a thread of its own; the others are for any thread.
class LineSource {
 public:
  LineSource();
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;
  virtual ~LineSource();

  /// The next line, without its newline. Nothing: the input has ended, or stop() was called.
  virtual std::optional<std::string> read(const std::string& prompt) = 0;
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

  std::optional<std::string> read(const std::string& prompt) override;

 private:
  const int descriptor_;
  std::string text_;  ///< read and not yet returned
  bool ended_ = false;
};

/// Lines typed and edited on the controlling terminal, with a history. Between two reads the terminal has its
/// own settings.
class LineEditor final : public LineSource {
 public:
  /// `history_file`: one line for each entry, readable only by the user; empty: stores nothing. Throws
  /// UsageError without a terminal.
  LineEditor(const std::string& history_file, Charset charset);
  ~LineEditor() override;

  std::optional<std::string> read(const std::string& prompt) override;

 private:
  struct Library;

  std::unique_ptr<Library> library_;
};

/// Cuts a history file to its last lines, makes it readable only by the user, and returns it. Empty if there
/// is none.
std::string read_history(const std::string& file);
/// Adds a line to the file; creates file and directory. Ignores failures, since a history is a convenience.
void add_to_history(const std::string& file, const std::string& line);

}  // namespace podrun::output
