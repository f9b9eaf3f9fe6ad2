// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/command.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/base/shell_quote.hpp"

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::supervisor {
namespace {

using Texts = std::vector<std::string>;

/// A Command in one expression, with defaults.
struct Made : Command {
  Made(decltype(Command::what) what_, std::vector<Variable> environment_ = {},
       ShellStart shell_ = ShellStart::plain)
      : Command{std::move(what_), std::move(environment_), shell_} {}
};

RemoteCommand built(const Made& command) { return build_command(command); }
std::string text_of(const Made& command) { return build_command(command).text; }

TEST(Command, SetsTheWords) {
  EXPECT_EQ(text_of({Words{{"echo", "a b", "$HOME", ""}}}), "set -- echo 'a b' '$HOME' ''");
  EXPECT_EQ(text_of({Words{{"echo", "a\nb"}}}), "set -- echo 'a'\"$podrun_n\"'b'");
}

TEST(Command, GivesTextToTheLoginShell) {
  EXPECT_EQ(text_of({ShellText{"cd x && ls | tail -1"}}),
            "set -- \"${SHELL:-/bin/sh}\" -c 'cd x && ls | tail -1'");
}

TEST(Command, ExportsTheEnvironmentFirst) {
  EXPECT_EQ(text_of({Words{{"x"}}, {{"A", "1"}, {"B", "a b\n"}, {"C", ""}}}),
            "export A=1; export B='a b'\"$podrun_n\"''; export C=''; set -- x");
}

TEST(Command, SendsAScriptAsAFile) {
  const RemoteCommand command = built({Script{"a b.sh", "echo hi\n", {"x", "y z"}}});
  EXPECT_EQ(command.text, "set -- /bin/sh \"$podrun_dir\"/'a b.sh' x 'y z'");
  ASSERT_EQ(command.files.size(), 1U);
  EXPECT_EQ(command.files[0].name, "a b.sh");
  EXPECT_EQ(command.files[0].content, "echo hi\n");
}

TEST(Command, ReadsTheFirstLineOfAScriptAsTheKernelDoes) {
  const auto words = [](const std::string& content) {
    const std::string text = text_of({Script{"s", content, {}}});
    return text.substr(0, text.find(" \"$podrun_dir\"/s"));
  };
  EXPECT_EQ(words("#!/usr/bin/python3\n"), "set -- /usr/bin/python3");
  EXPECT_EQ(words("#!/usr/bin/python3"), "set -- /usr/bin/python3");
  EXPECT_EQ(words("#! \t/bin/bash \t-eu -x \t\nrest"), "set -- /bin/bash '-eu -x'");
  EXPECT_EQ(words("#!/usr/bin/env -S python -u\n"), "set -- /usr/bin/env '-S python -u'");
  EXPECT_EQ(words("#!/bin/sh\r\n"), "set -- '/bin/sh\r'");
  for (const char* none :
       {"", "#", "#!", "#!\n/bin/bash", "#!  \t \n", " #!/bin/bash\n", "\n#!/bin/bash\n", "# !/bin/bash"}) {
    EXPECT_EQ(words(none), "set -- /bin/sh") << none;
  }
}

TEST(Command, SendsLongTextAsAFile) {
  const std::string text = ": " + std::string(kMaxInlineText, 'x') + "'\n";
  const std::string file = "\"$podrun_dir\"/podrun.command";
  const RemoteCommand plain = built({ShellText{text}});
  EXPECT_EQ(plain.text, "set -- \"${SHELL:-/bin/sh}\" " + file);
  const RemoteCommand login = built({ShellText{text}, {}, ShellStart::login});
  EXPECT_TRUE(login.text.ends_with(" podrun " + file)) << login.text;
  for (const RemoteCommand& command : {plain, login}) {
    ASSERT_EQ(command.files.size(), 1U);
    EXPECT_EQ(command.files[0].name, "podrun.command");
    EXPECT_EQ(command.files[0].content, text);
  }
}

TEST(Command, SendsALongEnvironmentOrManyWordsAsAFile) {
  const std::string half(kMaxInlineText / 2 + 1, 'x');
  const RemoteCommand environment = built({Words{{"ls"}}, {{"A", half}, {"B", half}}});
  EXPECT_EQ(environment.text, ". \"$podrun_dir\"/podrun.environment");
  ASSERT_EQ(environment.files.size(), 1U);
  EXPECT_EQ(environment.files[0].name, "podrun.environment");
  EXPECT_EQ(environment.files[0].content, fmt::format("export A={0}; export B={0}; set -- ls", half));

  const RemoteCommand words = built({Words{{half, half}}});
  EXPECT_EQ(words.text, ". \"$podrun_dir\"/podrun.environment");

  const RemoteCommand script = built({Script{"s", "", {half, half}}});
  EXPECT_EQ(script.files.size(), 2U);
}

TEST(Command, RefusesAWordThatNoKernelTakes) {
  const std::string longest(kMaxWord, 'x');
  EXPECT_EQ(usage_error([&] { built({Words{{"echo", longest}}}); }), "no error");
  const std::string expected =
      "a word of 131072 bytes is too long for one argument on the hosts (at most 131071; send a file, or use "
      "-I)";
  EXPECT_EQ(usage_error([&] { built({Words{{"echo", longest + "x"}}}); }), expected);
  EXPECT_EQ(usage_error([&] { built({Script{"s", "", {longest + "x"}}}); }), expected);
}

TEST(Command, RefusesAVariableThatNoKernelTakes) {
  const std::string longest(kMaxWord - 2, 'x');
  EXPECT_EQ(usage_error([&] { built({Words{{"ls", "-l"}}, {{"A", longest}}}); }), "no error");
  EXPECT_EQ(usage_error([&] {
              built({Words{{"ls", "-l"}}, {{"A", longest + "x"}}});
            }),
            "the value of \"A\" has 131070 bytes, too many for one variable on the hosts (at most 131069; "
            "send a file)");
  EXPECT_EQ(usage_error([&] { built({Words{{"ls"}}, {{"A", longest + "x"}, {"A", "1"}}}); }), "no error");
  EXPECT_EQ(usage_error([&] {
              built({Words{{"ls", "-l"}}, {{"A", longest}}, ShellStart::login});
            }),
            "the value of \"A\" has 131069 bytes, too many for one variable on the hosts (at most 131058; "
            "send a file)");
}

TEST(Command, RefusesTheSupervisorsOwnVariables) {
  EXPECT_EQ(usage_error([&] {
              built({Words{{"ls", "-l"}}, {{"PODRUN_MARK", "x"}}});
            }),
            "the variable \"PODRUN_MARK\" is reserved by podrun (choose another name)");
  EXPECT_EQ(usage_error([&] {
              built({Words{{"ls", "-l"}}, {{"podrun_n", "x"}}});
            }),
            "the variable \"podrun_n\" is reserved by podrun (choose another name)");
}

TEST(Command, KeepsTheFilesOfARunApart) {
  const std::string content = "echo hi\n";
  const std::string long_value(kMaxInlineText, 'x');
  const RemoteCommand command = built({Script{"podrun.environment", content, {}}, {{"A", long_value}}});
  ASSERT_EQ(command.files.size(), 2U);
  EXPECT_NE(command.files[0].name, command.files[1].name);
}

TEST(Command, NamesNoFileLikeTheStandardInput) {
  const RemoteCommand command = built({Script{"podrun.in", "cat\n", {}}});
  ASSERT_EQ(command.files.size(), 1U);
  EXPECT_NE(command.files[0].name, "podrun.in") << "the FIFO of -I has this name";
}

TEST(Go, IsOneLineWithTheRanksVariablesFirst) {
  const RankVariables variables{.rank = 1,
                                .hosts = 3,
                                .worker = 7,
                                .host = "tpu-7",
                                .host_list = "a\nb\n",
                                .host0 = "10.0.0.1",
                                .run_id = "id"};
  EXPECT_EQ(go_of_host(variables),
            "export PODRUN_RANK=1; export PODRUN_WORKER=7; export PODRUN_HOST=tpu-7; ");
  EXPECT_EQ(
      go_of_all({"set -- ls", {}}, variables),
      "export PODRUN_NUM_HOSTS=3; export PODRUN_RUN_ID=id; "
      "export PODRUN_HOSTLIST='a'\"$podrun_n\"'b'\"$podrun_n\"''; export PODRUN_HOST0=10.0.0.1; set -- ls");
}

TEST(Go, HasTheAddressesOfAllHosts) {
  EXPECT_THAT(go_of_all({"set -- ls", {}}, {.host0 = "10.0.0.1", .addresses = "10.0.0.1\ntpu-1"}),
              testing::HasSubstr(
                  "export PODRUN_ADDRESSES='10.0.0.1'\"$podrun_n\"'tpu-1'; export PODRUN_HOST0=10.0.0.1; "));
}

TEST(Go, HasLongListsOnlyForACommandThatAsks) {
  std::string names;
  for (int i = 0; i < 3000; ++i) names += fmt::format("h{}x\n", i * 7919 % 3000);
  const RankVariables variables{.hosts = 3000, .host_list = names, .host0 = "h"};
  const auto has_list = [&](const RemoteCommand& command) {
    return go_of_all(command, variables).find("PODRUN_HOSTLIST=") != std::string::npos;
  };
  EXPECT_FALSE(has_list(build_command({Words{{"ls"}}})));
  EXPECT_FALSE(has_list(build_command({ShellText{"echo $PODRUN_ADDRESSES"}})));
  EXPECT_TRUE(has_list(build_command({ShellText{"echo $PODRUN_HOSTLIST"}})));
  EXPECT_TRUE(has_list(build_command({Script{"s.sh", "echo $PODRUN_HOSTLIST", {}}})));
  EXPECT_TRUE(has_list(build_command({.what = Words{{"ls"}}, .lists = {"PODRUN_HOSTLIST"}})));
}

TEST(Go, LeavesItsOwnAddressToAHostThatStartsAtOnce) {
  const std::string go = go_of_host({.host = "tpu-0"}) +
                         go_of_all({"set -- printenv PODRUN_HOST0 PODRUN_ADDRESSES", {}}, {.host = "tpu-0"});
  const auto host0 = [&](const std::string& connection) {  // twice: of rank 0, and of all
    return test::run_shell({"dash", {"dash"}}, {"-c", go + "; exec \"$@\""}, {},
                           {"SSH_CONNECTION=" + connection})
        .output;
  };
  EXPECT_EQ(host0("10.0.0.9 4711 10.0.0.2 22"), "10.0.0.2\n10.0.0.2\n");
  EXPECT_EQ(host0("fe80::9 4711 fe80::2 22"), "fe80::2\nfe80::2\n");
  EXPECT_EQ(host0("10.0.0.9 4711 --evil=10.0.0.2 22"), "tpu-0\ntpu-0\n");
  EXPECT_EQ(host0("UNKNOWN 65535 UNKNOWN 65535"), "tpu-0\ntpu-0\n");
  EXPECT_EQ(host0(""), "tpu-0\ntpu-0\n");
}

/// Does with a go line and its files what the supervisor does.
class CommandIn : public testing::TestWithParam<test::Shell> {
 protected:
  struct Outcome {
    Texts output;  ///< each ended by NUL
    int exit_status;
  };
  Outcome run(const Made& command, Texts environment = {}) {
    const RemoteCommand remote = build_command(command);
    for (const RemoteFile& file : remote.files) directory_.write(file.name, file.content);
    const RankVariables variables{.host = "h", .host_list = "h\ni\n", .host0 = "h", .run_id = "r"};
    const std::string go = go_of_host(variables) + go_of_all(remote, variables);
    EXPECT_EQ(go.find('\n'), std::string::npos);
    const std::string supervisor = fmt::format(
        "{}; podrun_dir=$1; IFS= read -r podrun_line; eval \"$podrun_line\"; exec \"$@\" </dev/null",
        kDefineNewline);
    environment.push_back("HOME=" + directory_.path());
    const test::ShellRun run = test::run_shell(GetParam(), {"-c", supervisor, "podrun", directory_.path()},
                                               go + '\n', std::move(environment));
    return {test::split_at_nul(run.output), run.exit_status};
  }
  Texts output(const Made& command, Texts environment = {}) {
    return run(command, std::move(environment)).output;
  }

  test::TempDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Shells, CommandIn, testing::ValuesIn(test::shells()), test::ShellName());

TEST_P(CommandIn, RunsExactlyTheseWords) {
  Texts words = test::awkward_words(6);
  Words command{{"/usr/bin/printf", "%s\\0"}};
  command.words.insert(command.words.end(), words.begin(), words.end());
  EXPECT_EQ(output({command}), words);
  EXPECT_EQ(output({command, {{"A", "1"}}, ShellStart::login}), words);
}

TEST_P(CommandIn, ExportsExactlyTheseValues) {
  std::mt19937 random(7);
  Made command{Words{{"env", "-0"}}};
  Texts expected;
  for (int i = 0; i < 40; ++i) {
    command.environment.push_back({fmt::format("T{}", i), test::random_text(random, 60)});
    expected.push_back(fmt::format("T{}={}", i, command.environment.back().value));
  }
  const Texts environment = output(command);
  for (const std::string& entry : expected) {
    EXPECT_EQ(std::count(environment.begin(), environment.end(), entry), 1) << entry;
  }
  for (const char* entry : {"PODRUN_RANK=0", "PODRUN_HOST=h", "PODRUN_HOSTLIST=h\ni\n", "PODRUN_RUN_ID=r"}) {
    EXPECT_EQ(std::count(environment.begin(), environment.end(), entry), 1) << entry;
  }
}

TEST_P(CommandIn, LetsTheLaterValueWin) {
  const Made command{Words{{"sh", "-c", "printf '%s\\0' \"$A\" \"$PODRUN_RANK\" \"$B\""}},
                     {{"A", "1"}, {"PODRUN_RANK", "mine"}, {"A", "2"}, {"B", "new"}}};
  EXPECT_EQ(output(command, {"B=old"}), (Texts{"2", "mine", "new"}));
}

TEST_P(CommandIn, LetsTheLaterValueWinInTheUsersShellToo) {
  const std::vector<Variable> twice = {{"A", "1"}, {"B", "x"}, {"A", "2"}, {"B", ""}, {"A", "3"}};
  const std::string text = "printf '%s\\0' \"$A\" \"$B\"";
  for (const char* shell : {"/bin/dash", "/bin/bash", "/usr/bin/fish", "/usr/bin/tcsh"}) {
    const Texts environment = {fmt::format("SHELL={}", shell)};
    for (const ShellStart start : {ShellStart::plain, ShellStart::login}) {
      EXPECT_EQ(output({ShellText{text}, twice, start}, environment), (Texts{"3", ""})) << shell;
      EXPECT_EQ(output({Words{{"sh", "-c", text}}, twice, start}, environment), (Texts{"3", ""})) << shell;
      EXPECT_EQ(output({Script{"s", text, {}}, twice, start}, environment), (Texts{"3", ""})) << shell;
    }
  }
}

TEST_P(CommandIn, RunsTextInTheLoginShell) {
  const Made command{ShellText{"x='a  b'\nprintf '%s\\0' \"$x\" \"$0\" \"${BASH_VERSION:+bash}\"; exit 3"}};
  const Outcome outcome = run(command, {"SHELL=/bin/bash"});
  EXPECT_EQ(outcome.output, (Texts{"a  b", "/bin/bash", "bash"}));
  EXPECT_EQ(outcome.exit_status, 3);
  EXPECT_EQ(output({ShellText{"printf '%s\\0' \"$0\""}}, {"SHELL="}), Texts{"/bin/sh"});
}

TEST_P(CommandIn, RunsLongTextFromItsFile) {
  const Made command{ShellText{"x=" + std::string(300000, 'y') + "\nprintf '%s\\0' ${#x}\n"}, {{"A", "1"}}};
  EXPECT_EQ(output(command, {"SHELL=/bin/dash"}), Texts{"300000"});
}

TEST_P(CommandIn, RunsManyWordsAndALongEnvironmentFromAFile) {
  Made command{Words{{"sh", "-c", "printf '%s\\0' $# ${#A} ${#1} \"$5\"", "sh"}}};
  for (int i = 0; i < 4; ++i) command.environment.push_back({i == 3 ? "A" : "B", std::string(60000, 'x')});
  std::get<Words>(command.what).words.emplace_back(kMaxWord, 'y');
  for (int i = 0; i < 3; ++i) std::get<Words>(command.what).words.emplace_back(50000, 'z');
  std::get<Words>(command.what).words.emplace_back("it's\n$5");
  EXPECT_EQ(output(command), (Texts{"5", "60000", "131071", "it's\n$5"}));
}

TEST_P(CommandIn, ReadsTheProfileOnlyInALoginShellAndLetsTheEnvironmentWin) {
  directory_.write(".profile", "export A=profile P=profile\n");
  const Texts environment = {"SHELL=/bin/dash"};
  const std::string text = "printf '%s\\0' \"$A\" \"${P-none}\" \"${podrun_env-gone}\"";
  const Variable variable{"A", "it's\nmine"};
  EXPECT_EQ(output({ShellText{text}, {variable}}, environment), (Texts{variable.value, "none", "gone"}));
  EXPECT_EQ(output({ShellText{text}, {variable}, ShellStart::login}, environment),
            (Texts{variable.value, "profile", "gone"}));
  EXPECT_EQ(output({Words{{"sh", "-c", text}}, {variable}, ShellStart::login}, environment),
            (Texts{variable.value, "profile", "gone"}));
  EXPECT_EQ(output({ShellText{text}, {}, ShellStart::login}, environment),
            (Texts{"profile", "profile", "gone"}));
}

// The user's shell may be of another kind than /bin/sh. Start-up files that it reads, and a line that sets A
// in them:
struct UserShell {
  std::string path;
  std::string always;   ///< empty: none with -c
  std::string profile;  ///< of a login
  std::string set_variable;
};
const std::vector<UserShell> kUserShells = {
    {"/bin/dash", "", ".profile", "export {}={}\n"},
    {"/bin/bash", "", ".bash_profile", "export {}={}\n"},
    {"/usr/bin/zsh", ".zshenv", ".zprofile", "export {}={}\n"},
    {"/usr/bin/fish", ".config/fish/config.fish", ".config/fish/config.fish", "set -gx {} {}\n"},
    {"/usr/bin/tcsh", ".tcshrc", ".login", "setenv {} {}\n"},
};

class CommandInAUserShell : public CommandIn {};
INSTANTIATE_TEST_SUITE_P(Shells, CommandInAUserShell, testing::Values(test::shells().front()),
                         test::ShellName());

TEST_P(CommandInAUserShell, GetsWordsAndValuesAsTheyAreAndReadsItsProfile) {
  const Texts words = test::awkward_words(3);
  const Variable value{"A", "a  'b' \"c\" $HOME `id` \\ \xc3\xa9 * !x !! ~\nnext"};
  for (const UserShell& user : kUserShells) {
    std::filesystem::create_directories(directory_.path() + "/.config/fish");
    for (const std::string& file : {user.always, user.profile}) {
      if (!file.empty())
        directory_.write(file, fmt::format(fmt::runtime(user.set_variable), "A", "rc") +
                                   fmt::format(fmt::runtime(user.set_variable), "B", "rc"));
    }
    const Texts environment = {"SHELL=" + user.path, "LC_ALL=C.UTF-8"};  // fish alters bytes in C
    Words command{{"/usr/bin/printenv", "-0", "A", "B"}};
    const Texts both = {value.value, "rc"};
    EXPECT_EQ(output({command, {value}, ShellStart::login}, environment), both) << user.path;
    EXPECT_EQ(output({ShellText{"/usr/bin/printenv -0 A B"}, {value}, ShellStart::login}, environment), both)
        << user.path;
    EXPECT_EQ(output({ShellText{"/usr/bin/printenv -0 A; true # " + std::string(kMaxInlineText, 'x')},
                      {value},
                      ShellStart::login},
                     environment),
              Texts{value.value})
        << user.path;
    EXPECT_EQ(output({ShellText{"/usr/bin/printenv -0 A B; true"}, {value}}, environment),
              user.always.empty() ? Texts{value.value} : both)
        << user.path;
    EXPECT_EQ(output({Script{"s", "printf '%s\\0' \"$A\" \"$B\" \"${podrun_dir-}\"\n", {}},
                      {value},
                      ShellStart::login},
                     environment),
              (Texts{value.value, "rc", ""}))
        << user.path;
    command.words = {"/usr/bin/printf", "%s\\0"};
    command.words.insert(command.words.end(), words.begin(), words.end());
    EXPECT_EQ(output({command, {}, ShellStart::login}, environment), words) << user.path;
    for (const std::string& file : {user.always, user.profile}) {
      if (!file.empty()) std::filesystem::remove(directory_.path() + "/" + file);
    }
  }
}

TEST_P(CommandIn, RunsAScriptByItsFirstLine) {
  const Texts arguments = {"a b", "it's\n$0", ""};
  EXPECT_EQ(output({Script{"s", "printf '%s\\0' \"$@\"\n", arguments}}), arguments);
  EXPECT_EQ(output({Script{"s", "#!/usr/bin/env bash\nprintf '%s\\0' \"${@:2}\"\n", arguments}}),
            (Texts{arguments[1], arguments[2]}));
  EXPECT_EQ(output({Script{"odd na'me", "#!/bin/bash -eu\nprintf '%s\\0' $- \"${0##*/}\"\n", {}}}),
            (Texts{"ehuB", "odd na'me"}));
}

TEST_P(CommandIn, RunsAScriptThroughALoginShell) {
  directory_.write(".profile", "export P=profile\n");
  const Texts arguments = {"a b", "it's\n$0", ""};
  Texts expected = arguments;
  expected.emplace_back("profile");
  EXPECT_EQ(output({Script{"s", "printf '%s\\0' \"$@\" \"$P\"\n", arguments}, {}, ShellStart::login},
                   {"SHELL=/bin/dash"}),
            expected);
}

TEST_P(CommandIn, LetsTheEnvironmentWinOverTheProfileForAScriptToo) {
  directory_.write(".profile", "export A=profile\n");
  EXPECT_EQ(output({Script{"s", "printf '%s\\0' \"$A\"\n", {}}, {{"A", "mine"}}, ShellStart::login},
                   {"SHELL=/bin/dash"}),
            Texts{"mine"});
}

TEST_P(CommandIn, LetsTheEnvironmentWinOverTheProfileForLongTextToo) {
  directory_.write(".profile", "export A=profile\n");
  const std::string text = "printf '%s\\0' \"$A\"\n#" + std::string(kMaxInlineText, 'x') + "\n";
  EXPECT_EQ(output({ShellText{text}, {{"A", "mine"}}, ShellStart::login}, {"SHELL=/bin/dash"}),
            Texts{"mine"});
}

TEST_P(CommandIn, RunsManyWordsThroughALoginShell) {
  Made command{Words{{"sh", "-c", "printf '%s\\0' $#", "sh"}}, {}, ShellStart::login};
  for (int i = 0; i < 4; ++i) std::get<Words>(command.what).words.emplace_back(50000, 'z');
  EXPECT_EQ(output(command, {"SHELL=/bin/dash"}), Texts{"4"});
}

}  // namespace
}  // namespace podrun::supervisor
