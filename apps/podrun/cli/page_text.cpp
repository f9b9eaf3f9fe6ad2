// SPDX-License-Identifier: Apache-2.0
// Wraps a page of docs/ for a terminal or a pipe. It stays Markdown, which reads well as it is, but for what
// does not: long lines, rows of tables and links to other pages.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/wrap.hpp"

#include "cli/books.hpp"

namespace podrun::cli {
namespace {

constexpr std::size_t kIndent = 4;

/// `[pull](files.md#pull)` becomes `pull (podrun help files)`, and the link to another place its text.
std::string without_links(std::string text) {
  for (std::size_t end = text.find("]("); end != npos; end = text.find("](")) {
    std::size_t start = end;
    for (int open = 1; open > 0 && start > 0;) {
      --start;
      if (text[start] == ']') ++open;
      if (text[start] == '[') --open;
    }
    const std::size_t close = std::min(text.find(')', end), text.size() - 1);
    const std::string target = text.substr(end + 2, close - end - 2);
    std::string shown = text.substr(start + 1, end - start - 1);
    if (const Book* const page = find_book(pages(), target.substr(0, target.find('#')))) {
      const std::string command = fmt::format("podrun help {}", page->name);
      const bool is_alone = shown.substr(shown.rfind('/') + 1) == page->file || shown == "details";
      shown = is_alone ? command : fmt::format("{} ({})", shown, command);
    }
    text.replace(start, close + 1 - start, shown);
  }
  return text;
}

/// How many characters of `* ` or `12. ` begin a line.
std::size_t mark_of(std::string_view line) {
  if (line.starts_with("* ")) return 2;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && line.substr(digits).starts_with(". ") ? digits + 2 : 0;
}

/// Whether a line says where a mark leads: `[p1]: https://example.org`.
bool is_definition(std::string_view line) { return line.starts_with('[') && line.find("]: ") != npos; }

/// The cells of `| a | b \| c |`.
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '\\' && row.substr(i + 1).starts_with('|')) {
      cell += row[++i];
    } else if (row[i] == '|') {
      cells.push_back(without_links(std::string(trim_space(cell))));
      cell.clear();
    } else {
      cell += row[i];
    }
  }
  return cells;
}

class PageWriter {
 public:
  explicit PageWriter(std::size_t width) : width_(width) {}

  void add(std::string_view line) {
    const std::string_view text = trim_space(line);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (!text.starts_with('|')) headings_.clear();
    if (text.starts_with("```")) {
      is_fenced_ = !is_fenced_;
    } else if (is_fenced_) {
      write_code(line.empty() ? "" : std::string(kIndent, ' ').append(line));
    } else if (is_comment_ || text.starts_with("<!--")) {
      is_comment_ = text.find("-->") == npos;
    } else if (text.empty()) {
      end_paragraph();
      if (!text_.empty() && !text_.ends_with("\n\n")) text_ += '\n';
    } else if (paragraph_.empty() && indent >= kIndent) {
      write_code(line);
    } else if (text.starts_with('|')) {
      add_row(cells_of(text));
    } else if (text.starts_with('#')) {
      end_paragraph();
      text_.append(line) += '\n';
    } else if (!text.starts_with("![") && !is_definition(text)) {
      add_text(text, indent);
    }
  }
  std::string take() {
    end_paragraph();
    return std::move(text_);
  }

 private:
  void add_text(std::string_view text, std::size_t indent) {
    std::size_t mark = mark_of(text);
    const bool is_in_text = !paragraph_.empty() && lead_.find_first_not_of(' ') == npos;
    if (is_in_text && !text.starts_with("* ") && !text.starts_with("1. "))
      mark = 0;  // a sentence may end with a number
    if (mark > 0 || paragraph_.empty()) {
      end_paragraph();
      lead_ = std::string(indent, ' ').append(text.substr(0, mark));
      paragraph_ = text.substr(mark);
    } else {
      (paragraph_ += ' ') += text;
    }
  }
  void end_paragraph() {
    if (!paragraph_.empty())
      text_ += lead_ + output::wrap(without_links(paragraph_), width_, lead_.size()) + '\n';
    paragraph_.clear();
  }
  /// A comment that does not fit stands below its command.
  void write_code(std::string_view line) {
    end_paragraph();
    const std::size_t comment = line.find("  # ");
    if (output::cell_width(line) <= width_ || comment == npos) {
      text_.append(line) += '\n';
      return;
    }
    const std::size_t end = line.find_last_not_of(' ', comment) + 1;
    if (end > 0) text_.append(line.substr(0, end)) += '\n';
    const std::size_t below = line.find_first_not_of(' ') + kIndent;
    text_ +=
        std::string(below, ' ') + "# " + output::wrap(line.substr(comment + 4), width_, below + 2) + '\n';
  }
  /// Below the first cell of a row its others, each with its heading if there are several.
  void add_row(const std::vector<std::string>& cells) {
    end_paragraph();
    if (cells.empty() || cells.front().starts_with("---")) return;
    if (headings_.empty()) {
      headings_ = cells;
      return;
    }
    text_ += output::wrap(cells.front(), width_, 0) + '\n';
    for (std::size_t column = 1; column < std::min(cells.size(), headings_.size()); ++column) {
      if (cells[column].empty()) continue;
      const std::string heading = headings_.size() > 2 ? headings_[column] + ": " : "";
      text_ += std::string(kIndent, ' ') + output::wrap(heading + cells[column], width_, kIndent) + '\n';
    }
  }

  const std::size_t width_;
  std::string text_;
  std::string paragraph_;              ///< its lines so far, without the lead
  std::string lead_;                   ///< the mark of a list's item, or blanks
  std::vector<std::string> headings_;  ///< empty: not in a table
  bool is_fenced_ = false;
  bool is_comment_ = false;
};

}  // namespace

std::string page_text(const Book& page, std::size_t width) {
  if (!page.file.ends_with(".md")) return std::string(page.text);
  PageWriter writer(width);
  for (std::string_view rest = page.text; !rest.empty();) writer.add(take_part(rest, '\n'));
  return writer.take();
}

}  // namespace podrun::cli
