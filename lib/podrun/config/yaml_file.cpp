// SPDX-License-Identifier: Apache-2.0
// The parts of a YAML file, with the line of each for messages. What would cost yaml-cpp 0.7 or its users
// endless time is refused before it is loaded.
#include "podrun/config/yaml_file.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun::config {
namespace {

/// Throws where the parser makes no progress, where a value contains itself, and where aliases make a
/// document too large.
class Checks final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (last_ == mark.pos) throw YAML::ParserException(mark, "this text belongs to no key");
    last_ = mark.pos;
    nodes_ = 0;
    sizes_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t anchor) override { add(anchor); }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t anchor, const std::string&) override {
    add(anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    constexpr std::size_t kMost = 1'000'000;
    const auto whole = sizes_.find(anchor);
    if (whole == sizes_.end()) throw YAML::ParserException(mark, "with this alias, a value contains itself");
    if (nodes_ + whole->second > kMost)
      throw YAML::ParserException(
          mark, fmt::format("with this alias, the document has more than {} values", kMost));
    nodes_ += whole->second;
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  void begin(YAML::anchor_t anchor) { open_.emplace_back(anchor, nodes_++); }
  void end() {
    const auto [anchor, before] = open_.back();
    open_.pop_back();
    sizes_[anchor] = nodes_ - before;
  }
  void add(YAML::anchor_t anchor) {
    ++nodes_;
    sizes_[anchor] = 1;
  }

  std::optional<int> last_;
  std::size_t nodes_ = 0;  ///< values of this document, with those of aliases
  std::vector<std::pair<YAML::anchor_t, std::size_t>> open_;  ///< lists and maps, and the nodes before each
  std::map<YAML::anchor_t, std::size_t> sizes_;               ///< nodes of what has ended
};

/// yaml-cpp 0.7 reads a NUL as an escape, like a backslash.
void refuse_nul(const std::string& text) {
  const std::size_t nul = text.find('\0');
  if (nul == text.npos) return;
  YAML::Mark mark;
  mark.line =
      static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n'));
  throw YAML::ParserException(mark, "a NUL byte: expected text in UTF-8");
}

/// The key of a line such as `state: READY` that is not indented.
std::string_view top_key(std::string_view line) {
  const std::size_t colon = line.find(':');
  const bool is_key = colon != std::string_view::npos && line.find_first_of(" -\"'{[#}]") >= colon;
  return is_key ? line.substr(0, colon) : "";
}

}  // namespace

std::vector<YamlPart> separate_documents(std::string_view text) {
  std::vector<YamlPart> parts{{"", 0}};
  std::set<std::string_view> keys;
  std::string_view before;
  for (std::size_t number = 0; !text.empty(); ++number) {
    const std::string_view line = take_part(text, '\n');
    const std::string_view key = top_key(line);
    if (line.starts_with("---")) keys.clear();
    const bool is_next_json =
        (line.starts_with('{') && before.ends_with('}')) || (line.starts_with('[') && before.ends_with(']'));
    if (is_next_json || (!key.empty() && !keys.insert(key).second)) {
      parts.push_back({"", number});
      keys = {key};
    }
    parts.back().text.append(line).push_back('\n');
    if (!trim_space(line).empty()) before = trim_space(line);
  }
  return parts;
}

std::vector<YAML::Node> load_yaml(const std::string& text) {
  refuse_nul(text);
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Checks checks;
  while (parser.HandleNextDocument(checks)) {
  }
  return YAML::LoadAll(text);
}

std::vector<YAML::Node> YamlFile::load_documents(const std::string& text, const std::string& path) {
  try {
    return load_yaml(text);
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 0 : error.mark.line;
    YamlFile(path, YAML::Node())
        .fail(static_cast<std::size_t>(line) + 1, fmt::format("not YAML: {} (https://yaml.org)", error.msg));
  }
}

YamlFile::YamlFile(const std::string& text, std::string path) : path_(std::move(path)) {
  const std::vector<YAML::Node> documents = load_documents(text, path_);
  if (documents.size() > 1)
    fail(line_of(documents[1], 1), "a second document begins (expected one, without \"---\" within)");
  if (!documents.empty()) root_ = documents.front();
}

/// Adds the pairs of `<<: *anchor` whose keys are not there yet (https://yaml.org/type/merge.html).
void YamlFile::merge(const Pair& merged, std::string_view expected, std::vector<Pair>& pairs) const {
  const bool is_list = merged.value.IsSequence();
  for (std::size_t i = 0; i < (is_list ? merged.value.size() : 1); ++i) {
    for (Pair& pair : this->pairs(is_list ? merged.value[i] : merged.value, merged.line, expected)) {
      const auto has_key = [&pair](const Pair& each) { return each.key == pair.key; };
      if (std::none_of(pairs.begin(), pairs.end(), has_key)) pairs.push_back(std::move(pair));
    }
  }
}

std::vector<YamlFile::Pair> YamlFile::pairs(const YAML::Node& map, std::size_t line,
                                            std::string_view expected) const {
  if (map.IsNull()) return {};
  if (!map.IsMap()) fail(line_of(map, line), fmt::format("no \"key: value\" (expected {})", expected));
  std::vector<Pair> found;
  std::vector<Pair> merged;
  std::map<std::string, std::size_t> seen;
  for (const auto& pair : map) {
    const std::size_t where = line_of(pair.first, line);
    if (!pair.first.IsScalar()) fail(where, fmt::format("the key is no plain word (expected {})", expected));
    if (pair.first.Scalar().find('\0') != std::string::npos)
      fail(where, "a key with a NUL byte (expected plain text)");
    if (pair.first.Scalar() == "<<") {
      merged.push_back({"<<", where, pair.second});
      continue;
    }
    found.push_back({pair.first.Scalar(), where, pair.second});
    const auto [before, is_new] = seen.emplace(found.back().key, where);
    if (!is_new)
      fail(where, fmt::format("\"{}\" is there twice, first at line {} (remove one)", before->first,
                              before->second));
  }
  for (const Pair& pair : merged) merge(pair, expected, found);
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
