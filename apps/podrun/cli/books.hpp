// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace podrun::cli {

/// A text that the program carries, so that a copied binary has it too. Made by cmake/Books.cmake.
struct Book {
  std::string_view name;  ///< the file's, up to its first dot
  std::string_view file;
  std::string_view text;
};

/// The files of docs/, by name: Markdown, and the schemas of JSON.
std::span<const Book> pages();

/// The scripts and YAML files of examples/, by name.
std::span<const Book> examples();

/// Null: none has this name, or file name.
const Book* find_book(std::span<const Book> books, std::string_view name);

/// Throws UsageError that begins with `where` if there is none.
const Book& example_named(std::string_view name, std::string_view where);

/// Whether `-s @NAME` can run the example: not the YAML files, and not what a shell of one's own sources.
bool is_script(const Book& example);

/// The subject of a book: the heading of a page, the title of a schema, or the first sentence of an example's
/// comment.
std::string subject_of(const Book& book);

/// A page for a terminal: Markdown whose paragraphs are wrapped to `width` columns, with the cells of a row
/// below each other. Links to other pages become `podrun help NAME`.
std::string page_text(const Book& page, std::size_t width);

}  // namespace podrun::cli
