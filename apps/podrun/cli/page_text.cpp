// SPDX-License-Identifier: Apache-2.0
// Turns a page of docs/ into text for a terminal or a pipe.
#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/wrap.hpp"

#include "cli/books.hpp"

namespace podrun::cli {
namespace {

using Node = std::unique_ptr<cmark_node, decltype(&cmark_node_free)>;
using Row = std::vector<std::string>;

constexpr std::size_t kIndent = 4;
constexpr std::size_t kGap = 2;  ///< between the columns of a table

Node parse(std::string_view markdown) {
  cmark_gfm_core_extensions_ensure_registered();
  const std::unique_ptr<cmark_parser, decltype(&cmark_parser_free)> parser(
      cmark_parser_new(CMARK_OPT_DEFAULT), cmark_parser_free);
  cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension("table"));
  cmark_parser_feed(parser.get(), markdown.data(), markdown.size());
  return {cmark_parser_finish(parser.get()), cmark_node_free};
}

std::string_view type_of(cmark_node* node) { return cmark_node_get_type_string(node); }

std::string literal_of(cmark_node* node) {
  const char* const literal = cmark_node_get_literal(node);
  return literal ? literal : "";
}

std::string inline_text(cmark_node* parent);

/// `podrun help files` for `files.md#pull`; empty for other targets.
std::string command_for_page(std::string_view target) {
  target = target.substr(0, target.find('#'));
  target.remove_prefix(std::min(target.rfind('/') + 1, target.size()));
  const Book* const page = find_book(pages(), target);
  return page ? fmt::format("podrun help {}", page->name) : "";
}

std::string link_text(cmark_node* link) {
  const char* const target = cmark_node_get_url(link);
  const std::string text = inline_text(link);
  const std::string command = command_for_page(target ? target : "");
  if (command.empty()) return text;
  const bool is_command_alone = !command_for_page(text).empty() || text == "details";
  return is_command_alone ? command : fmt::format("{} ({})", text, command);
}

std::string inline_text(cmark_node* parent) {
  std::string text;
  for (cmark_node* node = cmark_node_first_child(parent); node; node = cmark_node_next(node)) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
      text += ' ';
    else if (type == CMARK_NODE_LINK)
      text += link_text(node);
    else if (type == CMARK_NODE_IMAGE)
      continue;
    else if (cmark_node_first_child(node))
      text += inline_text(node);
    else if (type != CMARK_NODE_HTML_INLINE)
      text += literal_of(node);
  }
  return text;
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string_view word : split(text, ' ')) longest = std::max(longest, output::cell_width(word));
  return longest;
}

/// The widths of the columns: as wide as their cells, or, where that is too wide, the wide ones share what
/// the others leave. Empty if a word would have to be broken.
std::vector<std::size_t> column_widths(const std::vector<Row>& rows, std::size_t width) {
  const std::size_t count = rows.front().size();
  std::vector<std::size_t> natural(count, 0);
  std::vector<std::size_t> least(count, 0);
  for (const Row& row : rows) {
    for (std::size_t column = 0; column < count; ++column) {
      natural[column] = std::max(natural[column], output::cell_width(row[column]));
      least[column] = std::max(least[column], longest_word(row[column]));
    }
  }
  const std::size_t needed = std::accumulate(least.begin(), least.end(), kGap * (count - 1));
  if (needed > width) return {};
  std::size_t spare = width - needed;
  std::vector<std::size_t> narrow_first(count);
  std::iota(narrow_first.begin(), narrow_first.end(), 0);
  std::ranges::sort(narrow_first, {}, [&](std::size_t column) { return natural[column]; });
  std::vector<std::size_t> widths = least;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t column = narrow_first[i];
    const std::size_t more = std::min(natural[column] - least[column], spare / (count - i));
    widths[column] += more;
    spare -= more;
  }
  return widths;
}

/// The cells of a row beside each other, each wrapped to its column.
std::string lay_out(const Row& row, const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 0;
  for (std::size_t column = 0; column < row.size(); ++column) {
    const std::string wrapped = output::wrap(row[column], widths[column]);
    std::vector<std::string> lines;
    for (const std::string_view line : split(wrapped, '\n')) lines.emplace_back(line);
    height = std::max(height, lines.size());
    cells.push_back(std::move(lines));
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string whole;
    std::size_t wanted = 0;  // the column at which the next cell begins
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (line < cells[column].size() && !cells[column][line].empty()) {
        whole.resize(whole.size() + wanted - std::min(wanted, output::cell_width(whole)), ' ');
        whole += cells[column][line];
      }
      wanted += widths[column] + kGap;
    }
    text += whole + '\n';
  }
  return text;
}

class PageWriter {
 public:
  explicit PageWriter(std::size_t width) : width_(width) {}

  void write_children(cmark_node* parent, std::size_t indent) {
    for (cmark_node* node = cmark_node_first_child(parent); node; node = cmark_node_next(node))
      write(node, indent);
  }
  std::string take() { return std::move(text_); }

 private:
  void write(cmark_node* node, std::size_t indent) {
    if (type_of(node) == "table") return write_table(node, indent);
    switch (cmark_node_get_type(node)) {
      case CMARK_NODE_HEADING:
        return write_heading(inline_text(node));
      case CMARK_NODE_PARAGRAPH:
        return write_paragraph(inline_text(node), indent);
      case CMARK_NODE_CODE_BLOCK:
        return write_code(literal_of(node), indent + kIndent);
      case CMARK_NODE_LIST:
        return write_list(node, indent);
      case CMARK_NODE_BLOCK_QUOTE:
        return write_children(node, indent + kGap);
      default:
        break;  // comments
    }
  }
  /// A blank line before each block, but not after the mark of a list's item.
  void begin_block(std::size_t indent) {
    if (is_after_mark_) {
      is_after_mark_ = false;
      return;
    }
    if (!text_.empty() && !is_tight_) text_ += '\n';
    text_.append(indent, ' ');
  }
  void write_heading(const std::string& heading) {
    begin_block(0);
    text_ += heading + '\n' + std::string(output::cell_width(heading), '-') + '\n';
  }
  void write_paragraph(const std::string& paragraph, std::size_t indent) {
    if (paragraph.empty()) return;
    begin_block(indent);
    text_ += output::wrap(paragraph, width_, indent) + '\n';
  }
  void write_code(std::string_view code, std::size_t indent) {
    begin_block(0);
    if (code.ends_with('\n')) code.remove_suffix(1);
    for (const std::string_view line : split(code, '\n')) write_code_line(line, indent);
  }
  /// A comment that does not fit stands below its command.
  void write_code_line(std::string_view line, std::size_t indent) {
    const std::size_t comment = line.find("  # ");
    const bool fits = indent + output::cell_width(line) <= width_;
    if (line.empty() || fits || comment == std::string_view::npos) {
      text_ += (line.empty() ? "" : std::string(indent, ' ') + std::string(line)) + '\n';
      return;
    }
    const std::string_view command = line.substr(0, line.find_last_not_of(' ', comment) + 1);
    if (!command.empty()) text_ += std::string(indent, ' ') + std::string(command) + '\n';
    const std::size_t below = indent + kIndent;
    text_ +=
        std::string(below, ' ') + "# " + output::wrap(line.substr(comment + 4), width_, below + 2) + '\n';
  }
  void write_list(cmark_node* list, std::size_t indent) {
    const bool is_numbered = cmark_node_get_list_type(list) == CMARK_ORDERED_LIST;
    int number = cmark_node_get_list_start(list);
    const bool was_tight = is_tight_;
    for (cmark_node* item = cmark_node_first_child(list); item; item = cmark_node_next(item)) {
      const std::string mark = is_numbered ? fmt::format("{}. ", number++) : "* ";
      begin_block(indent);
      text_ += mark;
      is_after_mark_ = true;
      is_tight_ = was_tight;
      write_children(item, indent + mark.size());
      is_after_mark_ = false;
      is_tight_ = cmark_node_get_list_tight(list) != 0;
    }
    is_tight_ = was_tight;
  }
  void write_table(cmark_node* table, std::size_t indent) {
    std::vector<Row> rows;
    for (cmark_node* line = cmark_node_first_child(table); line; line = cmark_node_next(line)) {
      Row row;
      for (cmark_node* cell = cmark_node_first_child(line); cell; cell = cmark_node_next(cell))
        row.push_back(inline_text(cell));
      rows.push_back(std::move(row));
    }
    const std::vector<std::size_t> widths = column_widths(rows, width_ - indent);
    if (widths.empty()) return write_records(rows, indent);
    Row rules;
    for (const std::size_t width : widths) rules.emplace_back(width, '-');
    const bool has_heading =
        std::ranges::any_of(rows.front(), [](const std::string& cell) { return !cell.empty(); });
    if (has_heading)
      rows.insert(rows.begin() + 1, rules);
    else
      rows.erase(rows.begin());
    begin_block(0);
    for (const Row& row : rows) text_ += lay_out(row, widths);
  }

  /// A table without columns: below the first cell of a row the others, each with its heading.
  void write_records(const std::vector<Row>& rows, std::size_t indent) {
    const Row& headings = rows.front();
    for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
      write_paragraph(row->front(), indent);
      for (std::size_t column = 1; column < row->size(); ++column) {
        if ((*row)[column].empty()) continue;
        const std::string heading = headings.size() > 2 ? headings[column] + ": " : "";
        text_ += std::string(indent + kIndent, ' ') +
                 output::wrap(heading + (*row)[column], width_, indent + kIndent) + '\n';
      }
    }
  }

  const std::size_t width_;
  std::string text_;
  bool is_after_mark_ = false;  ///< the text ends with the mark of an item
  bool is_tight_ = false;       ///< in a list whose items stand without blank lines
};

}  // namespace

std::string page_text(const Book& page, std::size_t width) {
  if (!page.file.ends_with(".md")) return std::string(page.text);
  const Node document = parse(page.text);
  PageWriter writer(width);
  writer.write_children(document.get(), 0);
  return writer.take();
}

}  // namespace podrun::cli
