// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"

namespace podrun {

/// A world made of what the test puts into it.
struct FakeProbe final : hosts::Probe {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;
  std::string standard_input;
  std::vector<std::string> names;
  std::map<std::string, hosts::HttpAnswer> pages;  ///< by URL; the others are refused
  mutable std::vector<std::string> asked;          ///< the URLs

  std::optional<std::string> env(const std::string& name) const override { return find(variables, name); }
  std::optional<std::string> read_file(const std::string& path) const override { return find(files, path); }
  std::string read_standard_input() const override { return standard_input; }
  std::vector<std::string> own_names() const override { return names; }
  std::vector<hosts::HttpAnswer> http_get(const std::vector<std::string>& urls,
                                          std::chrono::milliseconds) const override {
    std::vector<hosts::HttpAnswer> answers;
    for (const std::string& url : urls) {
      const auto page = pages.find(url);
      asked.push_back(url);
      answers.push_back(page == pages.end() ? hosts::HttpAnswer{.error = "connection refused"}
                                            : page->second);
    }
    return answers;
  }

 private:
  static std::optional<std::string> find(const std::map<std::string, std::string>& map,
                                         const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
};

}  // namespace podrun
