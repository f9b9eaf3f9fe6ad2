// SPDX-License-Identifier: Apache-2.0
#include "config_report.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/config/config.hpp"

#include "config_keys.hpp"

namespace podrun {
namespace {

constexpr std::size_t kWidest = 48;  ///< of what comments stand behind, in line

struct Row {
  std::string yaml;
  std::string comment;
};

std::string header(const AppliedConfig& applied) {
  if (!applied.config)
    return fmt::format("# no {}: this is where a configuration is looked for\n", applied.path);
  std::vector<std::string> pods;
  for (const ConfigSection& pod : applied.config->pods)
    pods.push_back(fmt::format("{} (line {})", to_yaml(pod.name), pod.line));
  return fmt::format("# {}{}{}\n", applied.path, pods.empty() ? "" : "; pods: ", fmt::join(pods, ", "));
}

std::string shown(const OptionEntry& option, const std::string& text) {
  return to_yaml(option.key() == "env" ? text.substr(0, text.find('=')) : text);
}

/// Of an option that neither is given nor has a default: nothing.
std::vector<Row> rows_of(const OptionEntry& option) {
  const std::string& key = option.key();
  const std::vector<GivenValue>& given = option.given;
  if (given.size() > 1 && option.kind == OptionKind::list) {
    std::vector<Row> rows{{key + ":", ""}};
    for (const GivenValue& value : given) rows.push_back({"  - " + shown(option, value.text), value.where});
    return rows;
  }
  if (!given.empty())
    return {{fmt::format("{}: {}", key, shown(option, given.back().text)), given.back().where}};
  if (!option.default_text.empty()) return {{fmt::format("{}: {}", key, option.default_text), "default"}};
  const bool is_off = option.kind == OptionKind::flag || option.kind == OptionKind::choice;
  return is_off ? std::vector<Row>{{key + ": false", "default"}} : std::vector<Row>();
}

std::string join(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, std::min(row.yaml.size(), kWidest));
  std::string text;
  for (const Row& row : rows) {
    text +=
        row.comment.empty() ? row.yaml + '\n' : fmt::format("{:<{}}  # {}\n", row.yaml, width, row.comment);
  }
  return text;
}

}  // namespace

std::string describe_config(const OptionTable& table, const AppliedConfig& applied) {
  std::set<std::string> topics;  // of which something is said: a default is none then
  for (const OptionEntry& option : table.entries()) {
    if (!option.given.empty()) topics.insert(topic_of(option.key()));
  }
  std::vector<Row> rows;
  if (applied.metadata) rows.push_back({fmt::format("{}: true", kMetadataKey), *applied.metadata});
  for (const OptionEntry& option : table.entries()) {
    if (option.command_line_only) continue;
    if (option.given.empty() && !topics.insert(topic_of(option.key())).second) continue;
    std::vector<Row> more = rows_of(option);
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return header(applied) + join(rows);
}

}  // namespace podrun
