// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "podrun/shell/completeness.hpp"
#include "podrun/shell/line_source.hpp"

namespace podrun::shell {

/// A command, which may have several lines.
struct TypedCommand {
  enum class Kind { text, cut, ended };  ///< cut: the input ended within the command
  Kind kind = Kind::ended;
  std::string text = {};
  std::string misplaced = {};  ///< a command of the prompt that a paste has between others
  bool is_wrong = false;       ///< a syntax error, at least for a shell of this machine
};

/// Joins lines until they are a command. Lines that have arrived together are one command, so that no part of
/// a paste runs after a syntax error in it.
class CommandReader {
 public:
  /// The caller owns the source.
  CommandReader(LineSource& source, Parser parser);

  /// Blocks, on a thread of its own. Further lines have a prompt like the PS2 of shells.
  TypedCommand read(const std::string& prompt);

  LineSource& source() { return source_; }

 private:
  ReadLine next_line(const std::string& prompt);

  LineSource& source_;
  const Parser parser_;
  std::optional<ReadLine> unread_;  ///< arrived with the lines of the last command
};

}  // namespace podrun::shell
