// SPDX-License-Identifier: Apache-2.0
// Compares podrun with `ssh -G` on the files in tests/ssh_config.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/local/login_environment.hpp"
#include "podrun/local/spawn.hpp"
#include "podrun/ssh/config/algorithms.hpp"
#include "podrun/ssh/config/pattern.hpp"
#include "podrun/ssh/config/proxy_jump.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

#include "support/ssh_config_sample.hpp"

namespace podrun::test {
namespace {

const std::map<std::string, std::string> kEnvironment = {
    {"SSH_AUTH_SOCK", "/run/the agent"}, {"CORPUS_KEYS", "/keys of/corpus"}, {"CORPUS_EMPTY", ""}};

std::string joined(const Texts& texts) { return join(texts, " "); }

/// The values of each keyword that `ssh -G` prints; none when it refuses.
using Printed = std::map<std::string, Texts>;

/// `path`: empty: the user's and the system's files.
Printed ask_ssh(const std::string& path, const Texts& call) {
  Texts words = {"sh", "-c", "exec ssh -G \"$@\" 2>/dev/null", "sh"};
  if (!path.empty()) words.insert(words.end(), {"-F", path});
  words.insert(words.end(), call.begin(), call.end());
  words.emplace_back("/bin/sh");  // a session of podrun has a command
  Texts environment = {"HOME=" + local::own_account("").home};
  for (const auto& [name, value] : kEnvironment) environment.push_back(name + "=" + value);
  const ShellRun run = run_words(words, {}, environment);
  Printed printed;
  if (run.exit_status != 0) return printed;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    printed[line.substr(0, blank)].push_back(line.substr(std::min(blank + 1, line.size())));
  }
  return printed;
}

ssh::ConfigWorld test_world() {
  const local::Account account = local::own_account("");
  ssh::ConfigWorld world = ssh::system_config_world(account.home, account.name);
  world.env = [](const std::string& name) {
    const auto found = kEnvironment.find(name);
    return found == kEnvironment.end() ? std::nullopt : std::optional(found->second);
  };
  world.run = [](const std::string& command) { return local::run_shell_command("/bin/sh", command); };
  world.own_names = [] { return std::vector<std::string>{"127.0.0.1"}; };
  return world;
}

struct Question {
  ssh::SshCommandLine command_line;
  hosts::Host host;
};

Question read_question(const std::string& path, const Texts& call) {
  Question question{.command_line = {.config_file = path}, .host = {}};
  for (std::size_t i = 0; i < call.size(); ++i) {
    if (call[i] == "-o") {
      question.command_line.options.push_back(call.at(++i));
    } else if (call[i] == "-l") {
      question.command_line.user = call.at(++i);
    } else if (call[i] == "-p") {
      question.command_line.port = static_cast<std::uint16_t>(std::stoi(call.at(++i)));
    } else {
      const std::size_t at = call[i].find('@');
      question.host.name = call[i].substr(at == std::string::npos ? 0 : at + 1);
      if (at != std::string::npos) question.host.user = call[i].substr(0, at);
    }
  }
  return question;
}

std::string first(const Printed& printed, const std::string& keyword) {
  const auto found = printed.find(keyword);
  return found == printed.end() ? "" : found->second.front();
}

/// Compares what podrun found with what ssh says, keyword by keyword.
class Comparison {
 public:
  Comparison(const Printed& ssh, const ssh::SshSettings& ours, const std::string& name)
      : ssh_(ssh),
        ours_(ours),
        world_(test_world()),
        tokens_(world_, {.name = name,
                         .host_name = first(ssh, "hostname"),
                         .host_key_name = ssh.count("hostkeyalias") == 0 ? name : first(ssh, "hostkeyalias"),
                         .user = first(ssh, "user"),
                         .port = static_cast<std::uint16_t>(std::stoi(first(ssh, "port")))}) {}

  void run() const {
    if (ours_.user.find('%') == std::string::npos) same("user", ours_.user);  // OpenSSH 10 expands it
    same("hostname", ours_.host_name);
    same("port", std::to_string(ours_.port));
    same("hostkeyalias", ours_.host_key_alias);
    same("bindaddress", ours_.bind_address);
    const Texts families = {"any", "inet", "inet6"};
    same("addressfamily", families[static_cast<std::size_t>(ours_.address_family)]);
    same("identitiesonly", ours_.identities_only ? "yes" : "no");
    same("hashknownhosts", ours_.hash_known_hosts ? "yes" : "no");
    same("batchmode", ours_.batch_mode ? "yes" : "no");
    same("connectionattempts", std::to_string(ours_.connection_attempts.value_or(1)));
    same("serveralivecountmax", std::to_string(ours_.alive_count_max));
    compare_those_with_our_default();
    compare_files();
    compare_proxies();
    compare_algorithms("kexalgorithms", ssh::AlgorithmKind::kex, ours_.kex_algorithms);
    compare_algorithms("hostkeyalgorithms", ssh::AlgorithmKind::host_key, ours_.host_key_algorithms);
    compare_algorithms("ciphers", ssh::AlgorithmKind::cipher, ours_.ciphers);
    compare_algorithms("macs", ssh::AlgorithmKind::mac, ours_.macs);
    compare_algorithms("pubkeyacceptedalgorithms", ssh::AlgorithmKind::public_key,
                       ours_.public_key_algorithms);
  }

 private:
  void same(const std::string& keyword, const std::string& value) const {
    EXPECT_EQ(value, first(ssh_, keyword)) << keyword;
  }

  void compare_those_with_our_default() const {
    const std::string timeout = first(ssh_, "connecttimeout");
    const bool unlimited = timeout == "none" || timeout == "0";
    EXPECT_EQ(ours_.connect_timeout ? std::to_string(ours_.connect_timeout->count()) : "none",
              unlimited ? "none" : timeout);
    const std::string interval = first(ssh_, "serveraliveinterval");
    // Debian's is 300 with BatchMode.
    const bool is_default = interval == "0" || (ours_.batch_mode && interval == "300");
    if (!is_default || ours_.alive_interval != ssh::SshSettings().alive_interval)
      same("serveraliveinterval", std::to_string(ours_.alive_interval.count()));
    const Texts checks = {"false", "accept-new", "ask", "true"};
    if (ours_.required_rsa_size != ssh::SshSettings().required_rsa_size)
      same("requiredrsasize", std::to_string(ours_.required_rsa_size));
    const std::string check = checks[static_cast<std::size_t>(ours_.host_key_check)];
    if (check != "accept-new" || first(ssh_, "stricthostkeychecking") != "ask")
      same("stricthostkeychecking", check);
  }

  void compare_files() const {
    const Texts printed = ssh_.at("identityfile");
    if (ours_.identity_files.empty()) {
      EXPECT_EQ(printed.front(), "~/.ssh/id_rsa");
      EXPECT_TRUE(std::count(printed.begin(), printed.end(), "~/.ssh/id_ed25519"));
    } else {
      EXPECT_EQ(ours_.identity_files, expanded("identityfile"));
    }
    EXPECT_EQ(ours_.certificate_files, expanded("certificatefile"));
    same("userknownhostsfile", ours_.user_known_hosts.empty() ? "none" : joined(ours_.user_known_hosts));
    Texts global;
    for (const std::string& file : words_of(first(ssh_, "globalknownhostsfile")))
      global.push_back(tokens_.home_path(file));
    EXPECT_EQ(ours_.global_known_hosts.empty() ? Texts{"none"} : ours_.global_known_hosts, global);
    EXPECT_EQ(ours_.agent_socket, agent_socket());
  }

  /// ssh prints these as they were written.
  Texts expanded(const std::string& keyword) const {
    Texts files;
    const auto printed = ssh_.find(keyword);
    if (printed == ssh_.end()) return files;
    for (const std::string& file : printed->second)
      files.push_back(file == "none" ? file : tokens_.path(file));
    return files;
  }

  std::string agent_socket() const {
    const std::string printed = first(ssh_, "identityagent");
    const auto variable = [&](const std::string& name) { return world_.env(name).value_or(""); };
    if (printed.empty() || printed == "SSH_AUTH_SOCK") return variable("SSH_AUTH_SOCK");
    if (printed == "none") return "";
    return printed.starts_with('$') ? variable(printed.substr(1)) : printed;
  }

  void compare_proxies() const {
    const std::string command = first(ssh_, "proxycommand");
    EXPECT_EQ(ours_.proxy_command, command.empty() ? "" : tokens_.command(command, ssh::kProxyTokens));
    const std::string jump = first(ssh_, "proxyjump");
    EXPECT_EQ(ours_.proxy_jump.empty(), jump.empty()) << jump;
    if (!ours_.proxy_jump.empty() && !jump.empty()) {
      EXPECT_EQ(ssh::parse_proxy_jump(ours_.proxy_jump), ssh::parse_proxy_jump(jump))
          << ours_.proxy_jump << " and " << jump;
    }
  }

  /// Compares the names that both know; names that only one of them has by default do not count.
  void compare_algorithms(const std::string& keyword, ssh::AlgorithmKind kind,
                          const std::string& list) const {
    if (list.empty()) return;
    const auto names = [](const std::string& text) { return words_of(replaced(text, ",", " ")); };
    Texts by_us = names(list);
    Texts by_ssh = names(ssh::configured_algorithms(kind, first(ssh_, keyword)).value_or(""));
    const Texts by_default =
        names(ssh::configured_algorithms(kind, first(default_answer(), keyword)).value_or(""));
    const Texts our_default = names(std::string(ssh::our_algorithms(kind)));
    const auto erase_own = [](Texts& by, const Texts& own, const Texts& of_other, const Texts& by_other) {
      std::erase_if(by, [&](const std::string& name) {
        const auto is_in = [&](const Texts& texts) { return std::ranges::find(texts, name) != texts.end(); };
        return is_in(own) && !is_in(of_other) && !is_in(by_other);
      });
    };
    erase_own(by_ssh, by_default, our_default, by_us);
    erase_own(by_us, our_default, by_default, by_ssh);
    EXPECT_EQ(std::set<std::string>(by_us.begin(), by_us.end()),
              std::set<std::string>(by_ssh.begin(), by_ssh.end()))
        << keyword;
    EXPECT_EQ(by_us.size(), by_ssh.size()) << keyword;
  }

  static const Printed& default_answer() {
    static const Printed answer = ask_ssh("none", {"host"});
    return answer;
  }

  const Printed& ssh_;
  const ssh::SshSettings& ours_;
  const ssh::ConfigWorld world_;
  const ssh::ConfigTokens tokens_;
};

/// Each file of a directory of tests/ssh_config.
template <typename Action>
std::size_t for_each_sample(const std::string& directory, Action action) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PODRUN_SSH_CONFIGS "/" + directory)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const SshConfigSample sample(std::string{std::istreambuf_iterator<char>(file), {}});
    EXPECT_FALSE(sample.calls().empty());
    for (const Texts& call : sample.calls()) {
      SCOPED_TRACE(joined(call));
      action(sample, call);
    }
    ++count;
  }
  return count;
}

TEST(SshConfigOracle, FindsWhatSshFinds) {
  const auto compare = [](const SshConfigSample& sample, const Texts& call) {
    const Printed ssh = ask_ssh(sample.path(), call);
    ASSERT_FALSE(ssh.empty()) << "ssh refuses";
    const Question question = read_question(sample.path(), call);
    try {
      ssh::SshConfig config(test_world(), question.command_line);
      Comparison(ssh, config.settings_for(question.host), question.host.name).run();
    } catch (const UsageError& error) {
      ADD_FAILURE() << error.what();
    }
    EXPECT_FALSE(sample.has("started"));
  };
  EXPECT_GE(for_each_sample("corpus", compare), 60U);
}

TEST(SshConfigOracle, RefusesWhatSshRefuses) {
  const auto compare = [](const SshConfigSample& sample, const Texts& call) {
    if (!sample.newer_ssh_takes_it()) {
      EXPECT_TRUE(ask_ssh(sample.path(), call).empty()) << "ssh takes it";
    }
    const Question question = read_question(sample.path(), call);
    try {
      ssh::SshConfig config(test_world(), question.command_line);
      config.settings_for(question.host);
      ADD_FAILURE() << "we take it";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(std::filesystem::path(sample.path()).parent_path()),
                std::string::npos)
          << error.what();
    }
  };
  EXPECT_GE(for_each_sample("invalid", compare), 30U);
}

// A row that is an error, and what this ssh does not know, is left to test_cases.py.
TEST(SshConfigOracle, AgreesWithSshOnTheFilesThatPeopleBring) {
  const std::string cases = PODRUN_SSH_CONFIGS "/../cases/";
  const auto rows = nlohmann::json::parse(std::ifstream(cases + "ssh.json"));
  std::size_t compared = 0;
  for (const auto& [name, row] : rows.items()) {
    SCOPED_TRACE(name);
    const std::string host = row.value("of", "n1");
    const Printed ssh = ask_ssh(cases + "ssh/" + name, {host});
    if (row.contains("error") || ssh.empty()) continue;
    ssh::SshConfig config(test_world(), {.config_file = cases + "ssh/" + name});
    Comparison(ssh, config.settings_for({.name = host}), host).run();
    ++compared;
  }
  EXPECT_GE(compared, 30U);
}

TEST(SshConfigOracle, ReadsTheSystemsFileToo) {
  const Printed ssh = ask_ssh("", {"host"});
  ASSERT_FALSE(ssh.empty());
  ssh::SshConfig config(test_world(), {});
  Comparison(ssh, config.settings_for({.name = "host"}), "host").run();
}

}  // namespace
}  // namespace podrun::test
