// SPDX-License-Identifier: Apache-2.0
#include "cli/books.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun::cli {

const Book* find_book(std::span<const Book> books, std::string_view name) {
  const auto found =
      std::ranges::find_if(books, [&](const Book& book) { return book.name == name || book.file == name; });
  return found == books.end() ? nullptr : &*found;
}

std::string subject_of(const Book& book) {
  if (book.file.ends_with(".json")) return nlohmann::json::parse(book.text).at("title").get<std::string>();
  std::string_view rest = book.text;
  std::string_view line = take_part(rest, '\n');
  if (line.starts_with("#!")) line = take_part(rest, '\n');
  line.remove_prefix(std::min<std::size_t>(line.size(), 2));
  line = line.substr(0, std::min(line.find(". "), line.find(": ")));
  if (line.ends_with(':') || line.ends_with('.')) line.remove_suffix(1);
  std::string subject(line);
  std::erase(subject, '`');
  return subject;
}

const Book& example_named(std::string_view name, std::string_view where) {
  if (const Book* const found = find_book(examples(), name)) return *found;
  std::vector<std::string_view> names;
  for (const Book& example : examples()) names.push_back(example.name);
  throw UsageError(fmt::format("{}: no example \"{}\" ({}podrun example lists them)", where, name,
                               did_you_mean(name, names)));
}

bool is_script(const Book& example) { return example.file.ends_with(".sh"); }

}  // namespace podrun::cli
