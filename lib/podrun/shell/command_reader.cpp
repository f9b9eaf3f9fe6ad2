// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/command_reader.hpp"

#include <string_view>
#include <utility>

#include "podrun/base/text.hpp"
#include "podrun/shell/own_commands.hpp"

namespace podrun::shell {
namespace {

constexpr const char* kFurther = "> ";

/// True if the line is not part of a longer command.
bool stands_alone(std::string_view line) {
  const std::string_view words = trim_space(line);
  if (line.find('\n') != line.npos) return false;  // pasted
  return words.empty() || words.front() == '#' || is_own_command(words);
}

/// A line of pasted text that would be a command of the prompt if it were typed.
std::string misplaced_command(const std::string& text, const Parser& parser) {
  std::size_t begin = 0;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view name = colon_command(line);
    if (!name.empty() && judge(text.substr(0, begin), parser) != Completeness::open) return std::string(name);
    begin += line.size() + 1;
  }
  return {};
}

}  // namespace

CommandReader::CommandReader(LineSource& source, Parser parser)
    : source_(source), parser_(std::move(parser)) {}

ReadLine CommandReader::next_line(const std::string& prompt) {
  if (unread_) return *std::exchange(unread_, std::nullopt);
  return source_.read(prompt);
}

TypedCommand CommandReader::read(const std::string& prompt) {
  std::string text;
  bool has_begun = false;
  Completeness state = Completeness::whole;
  for (;;) {
    ReadLine line = next_line(has_begun ? kFurther : prompt);
    if (line.kind == ReadLine::Kind::interrupted) {
      text.clear();
      has_begun = false;
      continue;
    }
    const bool ends = line.kind == ReadLine::Kind::ended;
    if (ends && !has_begun) return {};
    if (ends && state == Completeness::open) return {TypedCommand::Kind::cut, std::move(text)};
    if (has_begun && state != Completeness::open && (ends || is_own_command(line.text))) {
      unread_ = std::move(line);
      break;
    }
    text += (has_begun ? "\n" : "") + line.text;
    if (!has_begun && stands_alone(text)) break;
    has_begun = true;
    state = judge(text, parser_);
    if (state != Completeness::open && !source_.has_waiting_line()) break;
  }
  source_.remember(text);
  TypedCommand command{.kind = TypedCommand::Kind::text, .is_wrong = state == Completeness::wrong};
  if (text.find('\n') != text.npos) command.misplaced = misplaced_command(text, parser_);
  command.text = std::move(text);
  return command;
}

}  // namespace podrun::shell
