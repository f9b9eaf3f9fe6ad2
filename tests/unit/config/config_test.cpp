// SPDX-License-Identifier: Apache-2.0
#include "podrun/config/config.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_probe.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Shape = Setting::Shape;

Configuration parse(const std::string& text) { return parse_configuration(text, "c.yaml"); }

std::string error_of(const std::string& text) {
  return usage_error([&] { parse(text); });
}

std::vector<std::string> texts(const Setting& setting) {
  std::vector<std::string> all;
  for (const SettingValue& value : setting.values) all.push_back(value.text);
  return all;
}

TEST(ConfigTest, ReadsDefaultsAndPodsWithTheirLines) {
  const Configuration configuration = parse(
      "# mine\n"
      "defaults:\n"
      "  grace: 5s\n"
      "\n"
      "  fail-fast: true\n"
      "pods:\n"
      "  train: {hosts: 'tpu-[0-3]', port: 2222}\n"
      "  eval:\n"
      "    hosts:\n"
      "      - a\n"
      "      - b\n");
  EXPECT_EQ(configuration.path, "c.yaml");
  ASSERT_EQ(configuration.defaults.entries.size(), 2U);
  EXPECT_EQ(configuration.defaults.entries[0].key, "grace");
  EXPECT_EQ(configuration.defaults.entries[0].line, 3U);
  EXPECT_THAT(texts(configuration.defaults.entries[0]), ElementsAre("5s"));
  EXPECT_EQ(configuration.defaults.entries[1].line, 5U);
  ASSERT_EQ(configuration.pods.size(), 2U);
  EXPECT_EQ(configuration.pods[0].name, "train");
  EXPECT_EQ(configuration.pods[0].line, 7U);
  EXPECT_THAT(texts(configuration.pods[0].entries[1]), ElementsAre("2222"));
  const Setting& hosts = configuration.pods[1].entries.front();
  EXPECT_EQ(hosts.shape, Shape::list);
  EXPECT_THAT(texts(hosts), ElementsAre("a", "b"));
  EXPECT_EQ(hosts.values[1].line, 11U);
}

TEST(ConfigTest, AMapIsReadAsNamesWithValues) {
  const Configuration configuration =
      parse("defaults:\n  env:\n    STEPS: 1000\n    HF_TOKEN:\n    EMPTY: ''\n    YES: yes\n    HOME: ~\n");
  const Setting& env = configuration.defaults.entries.front();
  EXPECT_EQ(env.shape, Shape::map);
  EXPECT_THAT(texts(env), ElementsAre("STEPS=1000", "HF_TOKEN", "EMPTY=", "YES=yes", "HOME"));
  EXPECT_EQ(env.values[1].line, 4U);
}

// "A=B" with the value 1 would read as A with the value "B=1".
TEST(ConfigTest, ANameInAMapHasNoEqualsSign) {
  EXPECT_EQ(error_of("defaults:\n  env:\n    A=B: 1\n"),
            "c.yaml:3: \"A=B\" is no name, it has a \"=\" (expected NAME: VALUE)");
  EXPECT_THAT(error_of("defaults: {env: {A=B}}\n"), StartsWith("c.yaml:1: \"A=B\" is no name"));
}

TEST(ConfigTest, ValuesStayAsTheyAreWritten) {
  const Configuration configuration = parse("defaults: {port: 022, label: \"no\\tne\", a: 1e3, b: 0x10}\n");
  std::vector<std::string> all;
  for (const Setting& setting : configuration.defaults.entries) all.push_back(setting.values.front().text);
  EXPECT_THAT(all, ElementsAre("022", "no\tne", "1e3", "0x10"));
}

TEST(ConfigTest, AKeyWithNothingAfterItHasNoValue) {
  EXPECT_THAT(parse("defaults: {grace: }\n").defaults.entries.front().values, IsEmpty());
  EXPECT_THAT(parse("defaults: {hosts: []}\n").defaults.entries.front().values, IsEmpty());
}

TEST(ConfigTest, AFileWithoutAnythingIsNoConfiguration) {
  for (const std::string text :
       {"", "\n", "# only this\n", "---\n", "defaults:\npods:\n", "defaults: {}\n"}) {
    EXPECT_THAT(parse(text).defaults.entries, IsEmpty()) << text;
    EXPECT_THAT(parse(text).pods, IsEmpty()) << text;
  }
}

TEST(ConfigTest, ErrorsOfYamlNameTheLine) {
  EXPECT_THAT(error_of("defaults:\n  grace: [1\n"), StartsWith("c.yaml:3: not YAML: "));
  EXPECT_THAT(error_of("defaults:\n  grace: 1\n grace: 2\n"), StartsWith("c.yaml:3: not YAML: "));
  EXPECT_THAT(error_of("defaults:\n\tgrace: 1\n"), StartsWith("c.yaml:2: "));
  EXPECT_THAT(error_of("defaults:\n  a: *nobody\n"), StartsWith("c.yaml:2: not YAML: "));
  EXPECT_THAT(error_of("pods:\n  a: &a {<<: *a, grace: 1}\n"),
              StartsWith("c.yaml:2: not YAML: with this alias, a value contains itself"));
  EXPECT_THAT(error_of("defaults: {}\n---\ndefaults: {}\n"), StartsWith("c.yaml:3: a second document"));
}

TEST(ConfigTest, RefusesAliasesThatMakeManyValuesOfFew) {
  std::string text = "defaults: &a {grace: 1}\n";
  for (char name = 'a'; name < 'h'; ++name) {
    text += fmt::format("{0}: &{0} [*{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}]\n",
                        static_cast<char>(name + 1), name);
  }
  EXPECT_THAT(error_of(text),
              StartsWith("c.yaml:7: not YAML: with this alias, the document has more than 1000000 values"));
}

TEST(ConfigTest, ANulByteIsRefused) {
  using namespace std::string_literals;
  EXPECT_THAT(error_of("defaults:\n  chdir: a\0nb\n"s), StartsWith("c.yaml:2: not YAML: a NUL byte"));
  EXPECT_THAT(error_of("# a\n\n# \0\ndefaults: {}\n"s), StartsWith("c.yaml:3: not YAML: a NUL byte"));
  EXPECT_THAT(error_of("\0"s), StartsWith("c.yaml:1: not YAML: a NUL byte"));
}

TEST(ConfigTest, ErrorsOfShapeNameTheLine) {
  EXPECT_THAT(error_of("grace\n"), StartsWith("c.yaml:1: no \"key: value\""));
  EXPECT_THAT(error_of("defaults:\n  - grace\n"), StartsWith("c.yaml:2: no \"key: value\""));
  EXPECT_THAT(error_of("pods:\n  train: a,b\n"), StartsWith("c.yaml:2: no \"key: value\""));
  EXPECT_THAT(error_of("defaults:\n  ? [a]\n  : b\n"), StartsWith("c.yaml:2: the key is no plain word"));
  EXPECT_THAT(error_of("defaults:\n  hosts: [[a]]\n"), StartsWith("c.yaml:2: hosts: no plain value"));
  EXPECT_THAT(error_of("defaults:\n  env: {A: {B: c}}\n"), StartsWith("c.yaml:2: env: no plain value"));
  EXPECT_THAT(error_of("defaults:\n  env: {A: \"\\0\"}\n"), StartsWith("c.yaml:2: env: a NUL byte"));
  EXPECT_THAT(error_of("defaults:\n  env: {\"A\\0\": B}\n"), StartsWith("c.yaml:2: a key with a NUL byte"));
}

TEST(ConfigTest, AKeyMayNotBeThereTwice) {
  EXPECT_EQ(error_of("defaults:\n  grace: 1\n  grace: 2\n"),
            "c.yaml:3: \"grace\" is there twice, first at line 2 (remove one)");
  EXPECT_THAT(error_of("pods:\n  a: {hosts: x}\n  a: {hosts: y}\n"),
              StartsWith("c.yaml:3: \"a\" is there twice"));
  EXPECT_THAT(error_of("defaults: {env: {A: 1, A: 2}}\n"), StartsWith("c.yaml:1: \"A\" is there twice"));
}

TEST(ConfigTest, AnUnknownKeyIsShownTheNearest) {
  EXPECT_EQ(error_of("default:\n  grace: 1\n"), "c.yaml:1: unknown key \"default\" (did you mean defaults?)");
  EXPECT_THAT(error_of("pods: {}\nfanout: 3\n"),
              StartsWith("c.yaml:2: unknown key \"fanout\" (expected defaults"));
}

TEST(ConfigTest, DeepNestingIsAnError) {
  EXPECT_THAT(error_of("defaults: " + std::string(100'000, '[')), StartsWith("c.yaml:1: not YAML: "));
}

TEST(ConfigTest, AliasesAreFollowed) {
  const Configuration configuration = parse("pods:\n  a: &a {hosts: x}\n  b: *a\n");
  EXPECT_THAT(texts(configuration.pods[1].entries.front()), ElementsAre("x"));
  EXPECT_THAT(error_of("defaults: &d\n  env: *d\n"), HasSubstr("a value contains itself"));
}

TEST(ConfigTest, WhatIsWrittenReadsBack) {
  for (const std::string text :
       {"tpu-[0-3]",   "a b",      "",           "~",     "null",
        "true",        "- x",      "# no",       "a: b",  "kubectl exec -i {host} -- ",
        "line\nbreak", "'single'", "\"double\"", "*star", "&and",
        "ä",           "\x01",     "%d",         "@x",    "[a,b]",
        "a\r",         "\ra\r\r"}) {
    const Configuration configuration = parse("defaults:\n  key: " + to_yaml(text) + "  # comment\n");
    EXPECT_THAT(texts(configuration.defaults.entries.front()), ElementsAre(text)) << to_yaml(text);
  }
}

using testing::HasSubstr;
using testing::StartsWith;

TEST(ConfigPathTest, IsInTheConfigurationHome) {
  FakeProbe probe;
  EXPECT_EQ(config_path(probe, "/home/me"), "/home/me/.config/podrun/config.yaml");
  probe.variables["XDG_CONFIG_HOME"] = "/etc/mine";
  EXPECT_EQ(config_path(probe, "/home/me"), "/etc/mine/podrun/config.yaml");
  probe.variables["XDG_CONFIG_HOME"] = "relative";
  EXPECT_EQ(config_path(probe, "/home/me"), "/home/me/.config/podrun/config.yaml");
}

class ConfigFileTest : public testing::Test {
 protected:
  std::optional<Configuration> read() const {
    return read_configuration(directory_.path("config.yaml"), directory_.path());
  }
  void write(const std::string& text, mode_t mode) const {
    ::chmod(directory_.write("config.yaml", text).c_str(), mode);
  }
  std::string error() const {
    return usage_error([this] { read(); });
  }

  test::TempDirectory directory_;
};

TEST_F(ConfigFileTest, NoFileIsNoConfiguration) {
  EXPECT_FALSE(read().has_value());
  EXPECT_FALSE(read_configuration("/dev/null/podrun/config.yaml", "/dev/null").has_value());
}

TEST_F(ConfigFileTest, ReadsItAndNamesItInErrors) {
  write("defaults: {grace: 5s}\n", 0644);
  ASSERT_TRUE(read().has_value());
  EXPECT_EQ(read()->defaults.entries.front().key, "grace");
  write("oops\n", 0600);
  EXPECT_THAT(error(), StartsWith("~/config.yaml:1: "));
}

TEST_F(ConfigFileTest, RefusesWhatOthersMayWrite) {
  write("defaults: {}\n", 0646);
  EXPECT_EQ(error(), "~/config.yaml: others may write to it, and it can name programs to run (chmod go-w " +
                         directory_.path("config.yaml") + ")");
}

TEST_F(ConfigFileTest, RefusesWhatBelongsToOthers) {
  const std::string path = directory_.path("config.yaml");
  if (::geteuid() != 0) return;  // who cannot give files away
  write("defaults: {}\n", 0660);
  ASSERT_EQ(::chown(path.c_str(), 0, 54321), 0);
  EXPECT_THAT(error(), HasSubstr("chmod go-w"));
  write("defaults: {}\n", 0600);
  ASSERT_EQ(::chown(path.c_str(), 54321, 0), 0);
  EXPECT_THAT(error(), StartsWith("~/config.yaml: it belongs to another user"));
}

TEST_F(ConfigFileTest, ADirectoryCannotBeRead) {
  ::mkdir(directory_.path("config.yaml").c_str(), 0700);
  EXPECT_THAT(error(), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace podrun::config
