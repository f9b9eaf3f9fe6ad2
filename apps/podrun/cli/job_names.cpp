// SPDX-License-Identifier: Apache-2.0
#include "cli/job_names.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"

namespace podrun::cli {
namespace {

constexpr const char* kFile = "job_names";
constexpr std::size_t kMostNames = 100;

}  // namespace

std::vector<std::string> seen_job_names(const hosts::Probe& probe) {
  std::vector<std::string> names;
  const std::string text = hosts::recall_state(kFile, probe);
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) names.emplace_back(line);
  }
  return names;
}

void set_seen_job_names(const std::vector<std::string>& names, const hosts::Probe& probe) {
  std::string text;
  for (const std::string& name : names) text += name + '\n';
  hosts::remember_state(kFile, text, probe);
}

void add_seen_job_name(const std::string& name, const hosts::Probe& probe) {
  std::vector<std::string> names = seen_job_names(probe);
  if (std::ranges::find(names, name) != names.end()) return;
  names.push_back(name);
  if (names.size() > kMostNames) names.erase(names.begin());
  set_seen_job_names(names, probe);
}

}  // namespace podrun::cli
