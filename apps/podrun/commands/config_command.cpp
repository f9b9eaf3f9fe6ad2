// SPDX-License-Identifier: Apache-2.0
// `podrun config`: prints every option in effect as a configuration, with the place each value comes from.
#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/config/config.hpp"

#include "cli/config_keys.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

constexpr std::size_t kWidest = 48;  ///< columns: comments are aligned after lines up to this width

struct Row {
  std::string yaml;
  std::string comment;
};

std::string header(const cli::AppliedConfig& applied) {
  if (!applied.config)
    return fmt::format("# no {}: this is where a configuration is looked for\n", applied.path);
  std::vector<std::string> pods;
  for (const config::ConfigSection& pod : applied.config->pods)
    pods.push_back(fmt::format("{} (line {})", config::to_yaml(pod.name), pod.line));
  return fmt::format("# {}{}{}\n", applied.path, pods.empty() ? "" : "; pods: ", join(pods, ", "));
}

std::string shown(const cli::OptionEntry& option, const std::string& text) {
  return config::to_yaml(option.row.value == cli::ValueKind::variable ? text.substr(0, text.find('='))
                                                                      : text);
}

/// Empty for an option that is not given and has no default.
std::vector<Row> rows_of(const cli::OptionEntry& option) {
  const std::string& key = option.key();
  const std::vector<cli::GivenValue>& given = option.given;
  if (given.size() > 1 && option.kind == cli::OptionKind::list) {
    std::vector<Row> rows{{key + ":", ""}};
    for (const cli::GivenValue& value : given)
      rows.push_back({"  - " + shown(option, value.text), value.where});
    return rows;
  }
  if (!given.empty())
    return {{fmt::format("{}: {}", key, shown(option, given.back().text)), given.back().where}};
  if (!option.row.default_text.empty())
    return {{fmt::format("{}: {}", key, option.row.default_text), "default"}};
  const bool is_off = option.kind == cli::OptionKind::flag || option.kind == cli::OptionKind::choice;
  if (!is_off) return {};
  return {{key + ": false", "default"}};
}

std::string yaml_text(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, std::min(row.yaml.size(), kWidest));
  std::string text;
  for (const Row& row : rows) {
    text +=
        row.comment.empty() ? row.yaml + '\n' : fmt::format("{:<{}}  # {}\n", row.yaml, width, row.comment);
  }
  return text;
}

std::string describe_config(const cli::OptionTable& table, const cli::AppliedConfig& applied) {
  std::set<std::string_view> subjects;  // of which something is said: a default is none then
  for (const cli::OptionEntry& option : table.entries()) {
    if (!option.given.empty()) subjects.insert(option.subject());
  }
  std::vector<Row> rows;
  if (applied.metadata) rows.push_back({fmt::format("{}: true", cli::kMetadataKey), *applied.metadata});
  for (const cli::OptionEntry& option : table.entries()) {
    if (option.row.merge == cli::Merge::not_allowed) continue;
    if (option.given.empty() && !subjects.insert(option.subject()).second) continue;
    std::vector<Row> more = rows_of(option);
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return header(applied) + yaml_text(rows);
}

class ConfigCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override {
    return context.answer(describe_config(context.table, context.config));
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_config_command() { return std::make_unique<ConfigCommand>(); }

}  // namespace podrun::commands
