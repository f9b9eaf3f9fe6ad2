// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/wrap.hpp"

#include <algorithm>
#include <vector>

#include "podrun/base/text.hpp"
#include "podrun/output/cell_width.hpp"

namespace podrun::output {
namespace {

constexpr std::string_view kPrefix = "podrun: ";
constexpr std::string_view kCommandName = "podrun ";

/// Puts pieces on lines, with a blank between them.
class Lines {
 public:
  Lines(std::size_t width, std::size_t indent) : width_(width), indent_(indent), column_(indent) {}

  void add(std::string_view piece) {
    const std::size_t cells = cell_width(piece);
    if (is_begun_ && column_ + 1 + cells > width_) {
      text_ += '\n' + std::string(indent_, ' ');
      column_ = indent_;
    } else if (is_begun_) {
      text_ += ' ';
      ++column_;
    }
    is_begun_ = true;
    text_ += piece;
    column_ += cells;
  }
  bool has_room_for(std::string_view piece) const { return indent_ + cell_width(piece) <= width_; }
  std::string take() { return std::move(text_); }

 private:
  const std::size_t width_;
  const std::size_t indent_;
  std::size_t column_;
  bool is_begun_ = false;
  std::string text_;
};

void add_words(Lines& lines, std::string_view text) {
  for (const std::string_view word : split(text, ' ')) lines.add(word);
}

/// Where the next command begins, with its bracket: `podrun ` at the start of a word.
std::size_t find_command(std::string_view text) {
  for (std::size_t at = text.find(kCommandName); at != std::string_view::npos;
       at = text.find(kCommandName, at + 1)) {
    if (at == 0 || text[at - 1] == ' ') return at;
    if (text[at - 1] == '(') return at - 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  Lines lines(width, indent);
  add_words(lines, text);
  return lines.take();
}

std::string wrap_message(std::string_view text, std::size_t width) {
  if (!text.starts_with(kPrefix) || cell_width(text) <= width) return std::string(text);
  std::string_view rest = text.substr(kPrefix.size());
  Lines lines(width, kPrefix.size());
  while (!rest.empty()) {
    const std::size_t command = find_command(rest);
    if (command != 0) add_words(lines, trim_space(rest.substr(0, command)));
    if (command == std::string_view::npos) break;
    const bool is_last = rest.substr(0, command).ends_with(kBeforeCommand);
    rest.remove_prefix(command);
    std::size_t end = std::min(rest.find_first_of(";)"), rest.size() - 1) + 1;
    if (rest.substr(end).starts_with(';')) ++end;
    if (is_last) end = rest.size();
    const std::string_view piece = rest.substr(0, end);
    const bool is_command = piece.find("podrun -") <= 1;
    if (is_command || lines.has_room_for(piece))
      lines.add(piece);
    else
      add_words(lines, piece);
    rest = trim_space(rest.substr(end));
  }
  return std::string(kPrefix) + lines.take();
}

}  // namespace podrun::output
