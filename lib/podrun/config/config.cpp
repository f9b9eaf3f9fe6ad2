// SPDX-License-Identifier: Apache-2.0
// Reads config.yaml into keys and values with their line numbers. The command line knows the meaning of the
// keys.
#include "podrun/config/config.hpp"

#include <map>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/nearest_name.hpp"
#include "podrun/config/yaml.hpp"

namespace podrun::config {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) { config_.path = path; }

  Configuration read(const std::string& text) {
    for (const Pair& section : pairs_of(load(text), 1, "\"defaults:\" or \"pods:\"")) {
      if (section.key == "defaults") {
        config_.defaults = {"defaults", section.line, read_entries(section, "options")};
      } else if (section.key == "pods") {
        for (const Pair& pod : pairs_of(section.value, section.line, "a name and its options"))
          config_.pods.push_back({pod.key, pod.line, read_entries(pod, "options of the pod")});
      } else {
        const auto nearest = nearest_name(section.key, {"defaults", "pods"});
        fail(section.line, fmt::format("unknown key \"{}\" ({})", section.key,
                                       nearest ? fmt::format("did you mean {}?", *nearest)
                                               : "expected defaults or pods; an option stands in defaults"));
      }
    }
    return std::move(config_);
  }

 private:
  struct Pair {
    std::string key;
    std::size_t line = 0;
    YAML::Node value;
  };

  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw UsageError(fmt::format("{}:{}: {}", config_.path, line, what));
  }

  YAML::Node load(const std::string& text) const {
    std::vector<YAML::Node> documents;
    try {
      documents = load_yaml(text);
    } catch (const YAML::Exception& error) {
      const int line = error.mark.is_null() ? 0 : error.mark.line;
      fail(static_cast<std::size_t>(line) + 1, fmt::format("not YAML: {} (https://yaml.org)", error.msg));
    }
    if (documents.size() > 1)
      fail(line_of(documents[1], 1), "a second document begins (expected one, without \"---\" within)");
    return documents.empty() ? YAML::Node() : documents.front();
  }

  static std::size_t line_of(const YAML::Node& node, std::size_t otherwise) {
    return node.Mark().is_null() ? otherwise : static_cast<std::size_t>(node.Mark().line) + 1;
  }

  /// The pairs of a map; none for an empty value.
  std::vector<Pair> pairs_of(const YAML::Node& map, std::size_t line, std::string_view expected) const {
    if (map.IsNull()) return {};
    if (!map.IsMap()) fail(line_of(map, line), fmt::format("no \"key: value\" (expected {})", expected));
    std::vector<Pair> pairs;
    std::map<std::string, std::size_t> seen;
    for (const auto& pair : map) {
      const std::size_t where = line_of(pair.first, line);
      if (!pair.first.IsScalar())
        fail(where, fmt::format("the key is no plain word (expected {})", expected));
      if (pair.first.Scalar().find('\0') != std::string::npos)
        fail(where, "a key with a NUL byte (expected plain text)");
      pairs.push_back({pair.first.Scalar(), where, pair.second});
      const auto [before, is_new] = seen.emplace(pairs.back().key, where);
      if (!is_new)
        fail(where, fmt::format("\"{}\" is there twice, first at line {} (remove one)", before->first,
                                before->second));
    }
    return pairs;
  }

  std::vector<Setting> read_entries(const Pair& section, std::string_view expected) const {
    std::vector<Setting> entries;
    for (const Pair& pair : pairs_of(section.value, section.line, expected))
      entries.push_back(read_entry(pair));
    return entries;
  }

  Setting read_entry(const Pair& pair) const {
    Setting entry{.key = pair.key, .line = pair.line, .values = {}};
    if (pair.value.IsMap()) {
      entry.shape = Setting::Shape::map;
      for (const Pair& variable : pairs_of(pair.value, pair.line, "NAME: VALUE")) {
        if (variable.key.find('=') != std::string::npos)
          fail(variable.line,
               fmt::format("\"{}\" is no name, it has a \"=\" (expected NAME: VALUE)", variable.key));
        const bool has_value = !variable.value.IsNull();
        entry.values.push_back({variable.key, variable.line});
        if (has_value) entry.values.back().text += '=' + text_of(variable.value, pair.key, variable.line);
      }
    } else if (pair.value.IsSequence()) {
      entry.shape = Setting::Shape::list;
      for (const YAML::Node& item : pair.value)
        entry.values.push_back({text_of(item, pair.key, pair.line), line_of(item, pair.line)});
    } else if (!pair.value.IsNull()) {
      entry.values.push_back({text_of(pair.value, pair.key, pair.line), pair.line});
    }
    return entry;
  }

  std::string text_of(const YAML::Node& node, const std::string& key, std::size_t line) const {
    if (!node.IsScalar())
      fail(line_of(node, line),
           fmt::format("{}: no plain value (expected text, a number, true or false)", key));
    if (node.Scalar().find('\0') != std::string::npos)
      fail(line_of(node, line), fmt::format("{}: a NUL byte (expected plain text)", key));
    return node.Scalar();
  }

  Configuration config_;
};

}  // namespace

Configuration parse_configuration(const std::string& text, const std::string& path) {
  return Reader(path).read(text);
}

std::string to_yaml(const std::string& value) {
  YAML::Emitter emitter;
  if (value.find('\r') != std::string::npos)
    emitter << YAML::DoubleQuoted;  // yaml-cpp 0.7 writes it as it is
  emitter << value;
  return emitter.c_str();
}

}  // namespace podrun::config
