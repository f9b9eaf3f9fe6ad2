// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace podrun::config {

/// The documents of a YAML text in UTF-8, https://yaml.org/spec/1.2.2. Throws YAML::Exception, also for kinds
/// of text that yaml-cpp 0.7 does not survive, for a value that contains itself, and for aliases that make
/// more than 10^6 values of a document.
std::vector<YAML::Node> load_yaml(const std::string& text);

/// A part of a text that is a YAML stream, and where it begins.
struct YamlPart {
  std::string text;
  std::size_t line;  ///< from 0
};
/// Several documents in a row, as `describe a; describe b` prints them, without `---` between them.
std::vector<YamlPart> separate_documents(std::string_view text);

/// A YAML text, which a user wrote. Everything throws UsageError that begins `path:line: `.
class YamlFile {
 public:
  /// A key of a map, and where it is.
  struct Pair {
    std::string key;
    std::size_t line = 0;  ///< from 1
    YAML::Node value;
  };

  /// Reads a text of one document.
  YamlFile(const std::string& text, std::string path);
  /// One of several documents, which load_documents() returns.
  YamlFile(std::string path, const YAML::Node& document) : path_(std::move(path)), root_(document) {}

  /// Reads all documents of a text.
  static std::vector<YAML::Node> load_documents(const std::string& text, const std::string& path);

  const std::string& path() const { return path_; }
  /// The pairs of the whole document. `expected`: the keys, for messages.
  std::vector<Pair> pairs(std::string_view expected) const { return pairs(root_, 1, expected); }
  /// The pairs of a map, no key twice, merge keys (`<<: *anchor`) done; empty for an empty value.
  std::vector<Pair> pairs(const YAML::Node& map, std::size_t line, std::string_view expected) const;
  /// A plain value, as written. `key`: for messages.
  std::string text(const YAML::Node& node, std::string_view key, std::size_t line) const;
  /// The line of a node, from 1; `otherwise` if it has none.
  static std::size_t line_of(const YAML::Node& node, std::size_t otherwise);

  [[noreturn]] void fail(std::size_t line, std::string_view what) const;

 private:
  void merge(const Pair& merged, std::string_view expected, std::vector<Pair>& pairs) const;

  std::string path_;
  YAML::Node root_;
};

}  // namespace podrun::config
