// SPDX-License-Identifier: Apache-2.0
#include "podrun/config/yaml.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>

#include <yaml-cpp/eventhandler.h>

namespace podrun::config {
namespace {

/// Throws unless each document begins after the previous one.
class Progress final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (last_ == mark.pos) throw YAML::ParserException(mark, "this text belongs to no key");
    last_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}

 private:
  std::optional<int> last_;
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

}  // namespace

std::vector<YAML::Node> load_yaml(const std::string& text) {
  refuse_nul(text);
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Progress progress;
  while (parser.HandleNextDocument(progress)) {
  }
  return YAML::LoadAll(text);
}

}  // namespace podrun::config
