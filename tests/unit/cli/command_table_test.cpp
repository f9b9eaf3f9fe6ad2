// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "podrun/base/error.hpp"

#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "commands/commands.hpp"
#include "support/fake_probe.hpp"

namespace podrun::cli {
namespace {

using ::testing::Not;

class CommandTable : public ::testing::Test {
 protected:
  static std::set<std::string> options_on(const std::string& page) {
    std::set<std::string> options;
    for (std::size_t line = 0; line < page.size(); line = page.find('\n', line) + 1) {
      const std::string_view rest = std::string_view(page).substr(line);
      if (!rest.starts_with("  -")) continue;
      const std::size_t name = page.find("--", line) + 2;
      options.insert(page.substr(name, page.find_first_of(" ,[\n", name) - name));
    }
    return options;
  }

  std::string refusal_of(std::vector<std::string> arguments) {
    CommandLine line(rows_);
    try {
      line.parse(std::move(arguments), probe_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  /// A use of the option on the command line, with a value that it takes.
  static std::vector<std::string> use_of(const OptionEntry& option) {
    const std::string name = "--" + option.key();
    if (option.kind != OptionKind::value && option.kind != OptionKind::list) return {name};
    static const std::map<std::string_view, std::string> kValues = {
        {"TIME", "5s"},          {"N", "3"},     {"PORT", "22"},     {"NAME[=VALUE]", "A=b"},
        {"KEY=VALUE", "User=a"}, {"HOSTS", "a"}, {"NUMBERS", "0"},   {"WORDS", "env {host}"},
        {"SIZE", "5M"},          {"PID", "5"},   {"ID", "01234567"}, {"N|all", "3"},
        {"TIME[:FIRST]", "5s"}};
    if (!option.row.default_text.empty()) return {name, option.row.default_text};
    const auto value = kValues.find(option.row.type);
    return {name, value == kValues.end() ? "x" : value->second};
  }

  const std::span<const CommandRow> rows_ = commands::command_table();
  const CommandLine line_{rows_};
  const OptionTable& table_ = line_.table();
  FakeProbe probe_{};
};

TEST_F(CommandTable, ShowsEachOptionOnThePagesOfItsCommandsOnly) {
  for (const CommandRow& row : rows_) {
    std::set<std::string> expected{"help"};
    for (const OptionEntry& option : table_.entries()) {
      if (row.takes_option(option)) expected.insert(option.key());
    }
    EXPECT_EQ(options_on(command_page(row, table_, 80)), expected) << row.name;
  }
}

TEST_F(CommandTable, HasAPageOfOneScreenForEachCommand) {
  for (const CommandRow& row : rows_) {
    const std::string page = short_command_page(row, table_, 80);
    EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 50) << row.name;
    for (const OptionEntry& option : table_.entries())
      EXPECT_TRUE(option.owner != row.name || options_on(page).contains(option.key())) << option.key();
  }
}

TEST_F(CommandTable, ShowsEveryOptionOnTheFullPage) {
  std::set<std::string> expected{"help"};
  for (const OptionEntry& option : table_.entries()) expected.insert(option.key());
  EXPECT_EQ(options_on(full_page(rows_, table_, 80)), expected);
}

TEST_F(CommandTable, HasACommandForEveryOption) {
  for (const OptionEntry& option : table_.entries()) {
    EXPECT_TRUE(std::any_of(rows_.begin(), rows_.end(), [&option](const CommandRow& row) {
      return row.takes_option(option);
    })) << option.key();
  }
}

TEST_F(CommandTable, RefusesExactlyTheOptionsThatACommandDoesNotTake) {
  for (const CommandRow& row : rows_) {
    if (row.runs_users_command) continue;
    for (const OptionEntry& option : table_.entries()) {
      std::vector<std::string> arguments = use_of(option);
      arguments.emplace_back(row.name);
      for (std::size_t i = 0; i < row.operands.least; ++i) arguments.emplace_back("0");
      const std::string refusal = refusal_of(arguments);
      const auto own = std::find_if(row.refusals.begin(), row.refusals.end(),
                                    [&](const Refusal& each) { return each.key == option.key(); });
      const std::string start = own != row.refusals.end() ? std::string(own->message)
                                                          : fmt::format("{}: --{}", row.name, option.key());
      EXPECT_EQ(refusal.starts_with(start), !row.takes_option(option)) << start << " got: " << refusal;
    }
  }
}

TEST_F(CommandTable, RefusesToSkipUnreachableHostsInCheckWhichAlwaysDoes) {
  EXPECT_EQ(refusal_of({"check", "--skip-unreachable"}),
            "check: --skip-unreachable has no meaning here (leave it out)");
}

TEST_F(CommandTable, LetsConfigYamlSetEveryOptionThatHasAMergeRule) {
  for (const OptionEntry& option : table_.entries()) {
    const bool is_list = option.kind == OptionKind::list;
    EXPECT_TRUE(option.row.merge != Merge::adds || is_list) << option.key() << ": only lists can add up";
    EXPECT_TRUE(option.row.merge != Merge::not_allowed || option.row.value == ValueKind::plain)
        << option.key() << ": no file sets it";
    EXPECT_FALSE(option.row.topic.empty()) << option.key();
    EXPECT_FALSE(option.row.help.empty()) << option.key();
  }
}

TEST_F(CommandTable, HasOptionHelpThatStartsWithACapitalAndHasNoFullStop) {
  for (const OptionEntry& option : table_.entries()) {
    const std::string_view help = option.row.help;
    EXPECT_TRUE(help.front() >= 'A' && help.front() <= 'Z') << help;
    EXPECT_THAT(help, Not(::testing::EndsWith("."))) << help;
  }
}

TEST_F(CommandTable, ShowsTheDefaultsThatAreInEffect) {
  EXPECT_EQ(table_.find("fanout")->row.default_text, std::to_string(run::Limits{}.fanout));
  EXPECT_EQ(table_.find("final")->row.default_text, "93,126,127");
  EXPECT_EQ(table_.find("wait-hosts")->row.default_text, "1h");
  EXPECT_EQ(table_.find("label")->row.default_text, "worker");
  EXPECT_EQ(table_.find("log-size")->row.default_text, "1GB");
}

TEST_F(CommandTable, FitsTheOverviewOnOneScreen) {
  const std::string page = overview_page(rows_, table_, 80);
  EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 50);
  for (const CommandRow& row : rows_) {
    const bool is_listed = page.find(fmt::format("\n  {} ", row.name)) != std::string::npos;
    EXPECT_EQ(is_listed, !row.runs_users_command && !row.is_rarely_used) << row.name;
  }
}

TEST_F(CommandTable, NamesNoOptionTwice) {
  std::set<std::string> keys;
  for (const OptionEntry& option : table_.entries()) {
    for (const std::string& key : option.keys) EXPECT_TRUE(keys.insert(key).second) << key;
  }
}

}  // namespace
}  // namespace podrun::cli
