// SPDX-License-Identifier: Apache-2.0
// `podrun config`: prints every option in effect as a configuration, with the place each value comes from.
#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"
#include "podrun/config/config.hpp"
#include "podrun/report/json_events.hpp"

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

bool is_switch(const cli::OptionEntry& option) {
  return option.kind == cli::OptionKind::flag || option.kind == cli::OptionKind::choice;
}

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

/// The options that a configuration can set and that have a value. Of several about one subject, none is
/// shown with its default if another is given.
std::vector<const cli::OptionEntry*> options_in_effect(const cli::OptionTable& table) {
  std::set<std::string_view> subjects;
  for (const cli::OptionEntry& option : table.entries()) {
    if (!option.given.empty()) subjects.insert(option.subject());
  }
  std::vector<const cli::OptionEntry*> options;
  for (const cli::OptionEntry& option : table.entries()) {
    if (option.row.merge == cli::Merge::not_allowed) continue;
    if (option.given.empty() && !subjects.insert(option.subject()).second) continue;
    if (option.given.empty() && option.row.default_text.empty() && !is_switch(option)) continue;
    options.push_back(&option);
  }
  return options;
}

std::string describe_config(const cli::OptionTable& table, const cli::AppliedConfig& applied) {
  std::vector<Row> rows;
  if (applied.metadata) rows.push_back({fmt::format("{}: true", cli::kMetadataKey), *applied.metadata});
  for (const cli::OptionEntry* option : options_in_effect(table)) {
    std::vector<Row> more = rows_of(*option);
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return header(applied) + yaml_text(rows);
}

using Json = nlohmann::ordered_json;

/// A switch is true, false or a word; a list is an array.
Json json_value(const cli::OptionEntry& option) {
  const auto value = [&option](const std::string& text) -> Json {
    if (is_switch(option) && (text == "true" || text == "false")) return text == "true";
    return option.row.value == cli::ValueKind::variable ? text.substr(0, text.find('=')) : text;
  };
  if (option.given.empty())
    return is_switch(option) && option.row.default_text.empty() ? Json(false) : Json(option.row.default_text);
  if (option.kind != cli::OptionKind::list) return value(option.given.back().text);
  Json values = Json::array();
  for (const cli::GivenValue& given : option.given) values.push_back(value(given.text));
  return values;
}

std::string config_json(const cli::OptionTable& table, const cli::AppliedConfig& applied) {
  Json json{{"v", 1}, {"file", applied.path}, {"found", applied.config.has_value()}, {"pods", Json::array()}};
  if (applied.config) {
    for (const config::ConfigSection& pod : applied.config->pods)
      json["pods"].push_back({{"name", pod.name}, {"line", pod.line}});
  }
  json["options"] = Json::object();
  if (applied.metadata)
    json["options"][std::string(cli::kMetadataKey)] = {{"value", true}, {"from", *applied.metadata}};
  for (const cli::OptionEntry* option : options_in_effect(table)) {
    json["options"][option->key()] = {
        {"value", json_value(*option)},
        {"from", option->given.empty() ? "default" : option->given.back().where}};
  }
  return report::to_line(json) + '\n';
}

class ConfigCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override {
    const auto describe = context.options.json ? config_json : describe_config;
    return context.answer(describe(context.table, context.config));
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_config_command() { return std::make_unique<ConfigCommand>(); }

}  // namespace podrun::commands
