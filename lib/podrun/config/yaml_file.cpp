// SPDX-License-Identifier: Apache-2.0
// The parts of a YAML file, with the line of each for messages.
#include "podrun/config/yaml_file.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/config/yaml.hpp"

namespace podrun::config {

YamlFile::YamlFile(const std::string& text, std::string path) : path_(std::move(path)) {
  std::vector<YAML::Node> documents;
  try {
    documents = load_yaml(text);
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 0 : error.mark.line;
    fail(static_cast<std::size_t>(line) + 1, fmt::format("not YAML: {} (https://yaml.org)", error.msg));
  }
  if (documents.size() > 1)
    fail(line_of(documents[1], 1), "a second document begins (expected one, without \"---\" within)");
  if (!documents.empty()) root_ = documents.front();
}

std::vector<YamlFile::Pair> YamlFile::pairs(const YAML::Node& map, std::size_t line,
                                            std::string_view expected) const {
  if (map.IsNull()) return {};
  if (!map.IsMap()) fail(line_of(map, line), fmt::format("no \"key: value\" (expected {})", expected));
  std::vector<Pair> found;
  std::map<std::string, std::size_t> seen;
  for (const auto& pair : map) {
    const std::size_t where = line_of(pair.first, line);
    if (!pair.first.IsScalar()) fail(where, fmt::format("the key is no plain word (expected {})", expected));
    if (pair.first.Scalar().find('\0') != std::string::npos)
      fail(where, "a key with a NUL byte (expected plain text)");
    found.push_back({pair.first.Scalar(), where, pair.second});
    const auto [before, is_new] = seen.emplace(found.back().key, where);
    if (!is_new)
      fail(where, fmt::format("\"{}\" is there twice, first at line {} (remove one)", before->first,
                              before->second));
  }
  return found;
}

std::string YamlFile::text(const YAML::Node& node, std::string_view key, std::size_t line) const {
  if (!node.IsScalar())
    fail(line_of(node, line),
         fmt::format("{}: no plain value (expected text, a number, true or false)", key));
  if (node.Scalar().find('\0') != std::string::npos)
    fail(line_of(node, line), fmt::format("{}: a NUL byte (expected plain text)", key));
  return node.Scalar();
}

std::size_t YamlFile::line_of(const YAML::Node& node, std::size_t otherwise) {
  return node.Mark().is_null() ? otherwise : static_cast<std::size_t>(node.Mark().line) + 1;
}

void YamlFile::fail(std::size_t line, std::string_view what) const {
  throw UsageError(fmt::format("{}:{}: {}", path_, line, what));
}

}  // namespace podrun::config
