// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/command_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "podrun/base/text.hpp"

namespace podrun::shell {
namespace {

using output::ReadLine;

constexpr const char* kFurther = "> ";

/// True if the line is not part of a longer command.
bool stands_alone(std::string_view line) {
  const std::string_view words = trim_space(line);
  if (line.find('\n') != line.npos) return false;  // pasted
  return words.empty() || words.front() == '#' || is_own_command(words);
}

}  // namespace

bool is_own_command(std::string_view line) {
  constexpr std::array<std::string_view, 2> kLeave = {"exit", "logout"};
  line = trim_space(line);
  if (std::find(kLeave.begin(), kLeave.end(), line) != kLeave.end()) return true;
  return line.size() > 1 && line.front() == ':' && std::isalpha(static_cast<unsigned char>(line[1])) != 0;
}

CommandReader::CommandReader(output::LineSource& source, Parser parser)
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
  return {TypedCommand::Kind::text, std::move(text), state == Completeness::wrong};
}

}  // namespace podrun::shell
