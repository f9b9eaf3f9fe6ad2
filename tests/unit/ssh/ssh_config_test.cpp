// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/config/ssh_config.hpp"

#include <ctime>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_config_world.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kUsers = "/home/me/.ssh/config";
const std::string kSystems = "/etc/ssh/ssh_config";

class SshConfigFiles : public testing::Test {
 protected:
  ssh::SshSettings settings_for(const hosts::Host& host, const ssh::SshCommandLine& command_line = {}) {
    ssh::SshConfig config(fake_.world(), command_line);
    return config.settings_for(host);
  }
  std::string error_for(const hosts::Host& host) {
    return usage_error([&] { settings_for(host); });
  }

  FakeConfigWorld fake_;
};

TEST_F(SshConfigFiles, MayBeMissing) {
  const ssh::SshSettings settings = settings_for({.name = "Pod-1"});
  EXPECT_EQ(settings.host_name, "pod-1");
  EXPECT_EQ(settings.user, "me");
  EXPECT_EQ(settings.port, 22);
  EXPECT_EQ(settings.host_key_check, ssh::HostKeyCheck::accept_new);
  EXPECT_EQ(settings.alive_interval, 15s);
  EXPECT_EQ(settings.agent_socket, "/run/agent");
}

TEST_F(SshConfigFiles, TheUsersComesBeforeTheSystems) {
  fake_.files[kUsers] = "Host pod\n  Port 2022\n  IdentityFile ~/.ssh/a\n";
  fake_.files[kSystems] = "Port 1\nHashKnownHosts yes\nIdentityFile /etc/key\n";
  const ssh::SshSettings settings = settings_for({.name = "pod"});
  EXPECT_EQ(settings.port, 2022);
  EXPECT_TRUE(settings.hash_known_hosts);
  EXPECT_THAT(settings.identity_files, ElementsAre("/home/me/.ssh/a", "/etc/key"));
  EXPECT_EQ(settings_for({.name = "other"}).port, 1);
}

TEST_F(SshConfigFiles, MarksTheirKeyFilesAsOptional) {
  fake_.files[kUsers] = "IdentityFile ~/a\nCertificateFile ~/b\n";
  const ssh::SshSettings settings = settings_for({.name = "pod"}, {.identities = {"c"}});
  EXPECT_THAT(settings.identity_files, ElementsAre("c", "/home/me/a"));
  EXPECT_THAT(settings.optional_files, ElementsAre("/home/me/a", "/home/me/b"));
}

TEST_F(SshConfigFiles, TheHostListsUserAndPortOverrideOtherOptionsAndFiles) {
  fake_.files[kUsers] = "User file\nPort 1\n";
  const ssh::SshCommandLine both = {.options = {"User=option", "Port=2"}, .user = "l", .port = 3};
  const ssh::SshCommandLine own = {.user = "l", .port = 3};
  const hosts::Host named = {.name = "pod", .user = "list", .port = 4};
  const auto user_and_port = [&](const hosts::Host& host, const ssh::SshCommandLine& command_line) {
    const ssh::SshSettings settings = settings_for(host, command_line);
    return fmt::format("{}:{}", settings.user, settings.port);
  };
  EXPECT_EQ(user_and_port({.name = "pod"}, {}), "file:1");
  EXPECT_EQ(user_and_port({.name = "pod"}, own), "l:3");
  EXPECT_EQ(user_and_port(named, own), "list:4");
  EXPECT_EQ(user_and_port(named, both), "option:2");
}

TEST_F(SshConfigFiles, TheCommandLineDoesNotApplyToJumpHosts) {
  fake_.files[kUsers] = "Host gate\n  HostName gate.example.com\n  Port 2022\n";
  ssh::SshConfig config(
      fake_.world(),
      {.options = {"ProxyJump=gate", "User=me-there"}, .user = {}, .port = 99, .identities = {"k"}});
  EXPECT_EQ(config.settings_for({.name = "pod"}).proxy_jump, "gate");
  const ssh::SshSettings gate = config.settings_for_jump_host({.name = "gate", .user = "jump"});
  EXPECT_EQ(gate.host_name, "gate.example.com");
  EXPECT_EQ(gate.user, "jump");
  EXPECT_EQ(gate.port, 2022);
  EXPECT_EQ(gate.proxy_jump, "");
  EXPECT_THAT(gate.identity_files, IsEmpty());
}

TEST_F(SshConfigFiles, OptionsAboutTrustApplyToJumpHosts) {
  fake_.files[kUsers] = "Host gate\n  UserKnownHostsFile /gates\n  PubkeyAcceptedAlgorithms ssh-rsa\n";
  ssh::SshConfig config(
      fake_.world(),
      {.options = {"StrictHostKeyChecking=yes", "UserKnownHostsFile=/known/%h", "GlobalKnownHostsFile=none",
                   "HashKnownHosts=yes", "HostKeyAlias=pod", "HostKeyAlgorithms=ssh-ed25519",
                   "KexAlgorithms=curve25519-sha256", "Ciphers=aes256-gcm@openssh.com", "MACs=hmac-sha2-512",
                   "PubkeyAcceptedAlgorithms=ssh-ed25519", "RequiredRSASize=4096", "BatchMode=yes",
                   "ServerAliveInterval=99", "IdentitiesOnly=yes"}});
  const ssh::SshSettings gate = config.settings_for_jump_host({.name = "gate"});
  EXPECT_EQ(gate.host_key_check, ssh::HostKeyCheck::yes);
  EXPECT_THAT(gate.user_known_hosts, ElementsAre("/known/gate"));
  EXPECT_THAT(gate.global_known_hosts, IsEmpty());
  EXPECT_TRUE(gate.hash_known_hosts);
  EXPECT_EQ(gate.host_key_algorithms, "ssh-ed25519");
  EXPECT_EQ(gate.kex_algorithms, "curve25519-sha256");
  EXPECT_EQ(gate.ciphers, "aes256-gcm@openssh.com");
  EXPECT_EQ(gate.macs, "hmac-sha2-512");
  EXPECT_EQ(gate.public_key_algorithms, "ssh-ed25519");
  EXPECT_EQ(gate.required_rsa_size, 4096U);
  EXPECT_TRUE(gate.batch_mode);
  EXPECT_EQ(gate.host_key_alias, "");
  EXPECT_EQ(gate.alive_interval, 15s);
  EXPECT_FALSE(gate.identities_only);
}

TEST_F(SshConfigFiles, AJumpHostIsCheckedByTheStricterOfOptionAndFile) {
  const auto check = [&](const std::string& file, const std::string& option) {
    fake_.files[kUsers] = file;
    ssh::SshConfig config(fake_.world(), {.options = {"StrictHostKeyChecking=" + option}});
    return config.settings_for_jump_host({.name = "gate"}).host_key_check;
  };
  const std::string none;
  const std::string keyword = "StrictHostKeyChecking ";
  EXPECT_EQ(check(none, "yes"), ssh::HostKeyCheck::yes);
  EXPECT_EQ(check(none, "ask"), ssh::HostKeyCheck::ask);
  EXPECT_EQ(check(none, "no"), ssh::HostKeyCheck::accept_new);
  EXPECT_EQ(check(keyword + "yes", "accept-new"), ssh::HostKeyCheck::yes);
  EXPECT_EQ(check(keyword + "no", "ask"), ssh::HostKeyCheck::ask);
  EXPECT_EQ(check(keyword + "no", "no"), ssh::HostKeyCheck::no);
}

TEST_F(SshConfigFiles, AJumpHostIsCheckedNoLessThanTheHostsItLeadsTo) {
  fake_.files[kUsers] = "Host pod\n  StrictHostKeyChecking yes\nHost gate\n  StrictHostKeyChecking no\n";
  ssh::SshConfig config(fake_.world(), {});
  EXPECT_EQ(config.settings_for_jump_host({.name = "gate"}).host_key_check, ssh::HostKeyCheck::no);
  config.settings_for({.name = "other"});
  EXPECT_EQ(config.settings_for_jump_host({.name = "gate"}).host_key_check, ssh::HostKeyCheck::accept_new);
  config.settings_for({.name = "pod"});
  EXPECT_EQ(config.settings_for_jump_host({.name = "gate"}).host_key_check, ssh::HostKeyCheck::yes);
}

TEST_F(SshConfigFiles, AFileOfTheCommandLineReplacesBoth) {
  fake_.files[kUsers] = "Port 1\n";
  fake_.files[kSystems] = "User system\n";
  fake_.files["other"] = "User other\n";
  const ssh::SshSettings other = settings_for({.name = "pod"}, {.config_file = "other"});
  EXPECT_EQ(other.port, 22);
  EXPECT_EQ(other.user, "other");
  EXPECT_EQ(settings_for({.name = "pod"}, {.config_file = "None"}).user, "me");
  EXPECT_EQ(usage_error([&] { settings_for({.name = "pod"}, {.config_file = "missing"}); }),
            "-F: there is no file \"missing\" (expected an ssh_config)");
}

TEST_F(SshConfigFiles, ErrorsNameFileAndLine) {
  const auto error = [&](const std::string& text) {
    fake_.files[kUsers] = text;
    return error_for({.name = "pod"});
  };
  EXPECT_EQ(error("\nHost x\n Prot 22\n"), "~/.ssh/config:3: unknown keyword \"Prot\" (did you mean Port?)");
  EXPECT_EQ(error("Host x\nPort 22x"), "~/.ssh/config:2: bad Port \"22x\" (expected 1-65535)");
  EXPECT_EQ(error("Port"), "~/.ssh/config:1: no value for \"Port\" (expected Port VALUE)");
  EXPECT_EQ(error("Match later x"),
            "~/.ssh/config:1: unknown criterion \"later\" of Match decides about this host (expected host, "
            "originalhost, user, localuser, exec, tagged, localnetwork, final, canonical or all)");
  EXPECT_EQ(error("Match host"), "~/.ssh/config:1: no value for \"host\" of Match (expected host VALUE)");
  EXPECT_EQ(error("#\nMACs umac-64@openssh.com"),
            "~/.ssh/config:2: bad MACs \"umac-64@openssh.com\" (expected some that libssh has, such as "
            "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512)");
  EXPECT_EQ(error("Include more"), "no error");
  fake_.files["/home/me/.ssh/more"] = "\nUser \"x\n";
  EXPECT_EQ(error("Include more"), "~/.ssh/more:2: a quote is not closed: \"x (add the second one)");
  EXPECT_EQ(error("Include config"),
            "~/.ssh/config:1: Include is nested more than 16 deep (does a file include itself?)");
}

TEST_F(SshConfigFiles, AnUnsupportedKeywordFailsOnlyForItsHosts) {
  fake_.files[kUsers] = "Host gate\n  BindInterface eth1\n  Ciphers arcfour\nHost *\n  PKCS11Provider x\n";
  EXPECT_EQ(error_for({.name = "gate"}),
            "~/.ssh/config:2: \"BindInterface eth1\" is not supported (BindAddress takes the address of "
            "the interface)");
  EXPECT_EQ(error_for({.name = "pod"}), "no error");
  fake_.files[kUsers] = "CheckHostIP yes\n";
  EXPECT_EQ(
      error_for({.name = "pod"}),
      "~/.ssh/config:1: \"CheckHostIP yes\" is not supported (host keys are looked up by name alone: -o "
      "CheckHostIP=no)");
  fake_.files[kUsers] = "VerifyHostKeyDNS no\nVerifyHostKeyDNS yes\n";
  EXPECT_EQ(error_for({.name = "pod"}), "no error");
}

TEST_F(SshConfigFiles, ReportAnIgnoredKeywordOnce) {
  fake_.files[kUsers] = "Host a\n  ForwardAgent yes\nHost *\n  ForwardAgent no\n  SendEnv LANG\n  Port 22\n";
  ssh::SshConfig config(fake_.world(), {.options = {"LogLevel=QUIET"}});
  config.settings_for({.name = "b"});
  config.settings_for({.name = "a"});
  EXPECT_THAT(config.ignored(),
              ElementsAre("-o: LogLevel", "~/.ssh/config:4: ForwardAgent", "~/.ssh/config:5: SendEnv"));
}

TEST_F(SshConfigFiles, CommandsOfMatchRunOnceAndOnlyIfEarlierCriteriaHold) {
  fake_.files[kUsers] =
      "Match host pod-* exec \"is-here %n\"\n  User here\nMatch exec \"anyone\"\n  Port 2022\n"
      "Host gate\n  Include more\n";
  fake_.files["/home/me/.ssh/more"] = "Match exec never\n  User never\n";
  fake_.statuses = {{"is-here pod-1", 0}, {"anyone", 0}};
  ssh::SshConfig config(fake_.world(), {});
  EXPECT_EQ(config.settings_for({.name = "pod-1"}).user, "here");
  EXPECT_EQ(config.settings_for({.name = "pod-2"}).user, "me");
  EXPECT_EQ(config.settings_for({.name = "other"}).port, 2022);
  EXPECT_EQ(config.settings_for({.name = "pod-1"}).user, "here");
  EXPECT_THAT(fake_.commands, ElementsAre("is-here pod-1", "anyone", "is-here pod-2"));
  fake_.statuses["anyone"] = std::nullopt;
  EXPECT_EQ(error_for({.name = "other"}),
            "~/.ssh/config:3: \"anyone\" of Match exec has no exit status (expected it to exit)");
}

TEST_F(SshConfigFiles, MatchKnowsTheCriteriaOfNewerSsh) {
  const auto matches = [this](const std::string& criteria) {
    fake_.files[kUsers] = "Host tagged\n  Tag tpu\nMatch " + criteria + "\n  User matched\n";
    return settings_for({.name = "tagged"}).user == "matched";
  };
  EXPECT_TRUE(matches("tagged t*,!x"));
  EXPECT_FALSE(matches("tagged gpu"));
  EXPECT_FALSE(matches("tagged \"\""));
  EXPECT_TRUE(matches("!tagged \"\""));
  EXPECT_TRUE(matches("localnetwork 192.168.0.0/16,10.0.0.0/8"));
  EXPECT_TRUE(matches("localnetwork fd00::/8"));
  EXPECT_TRUE(matches("localnetwork 10.1.2.3"));
  EXPECT_FALSE(matches("localnetwork 10.1.2.4,10.2.0.0/16"));
  for (const char* bad : {"localnetwork 10.0.0.1/8", "localnetwork 10.0.0.0/33", "localnetwork x", "tagged",
                          "version 9", "sessiontype exec"}) {
    fake_.files[kUsers] = std::string("Match ") + bad + "\n  User x\n";
    EXPECT_NE(error_for({.name = "pod"}), "no error") << bad;
  }
}

TEST_F(SshConfigFiles, AnUnknownCriterionFailsOnlyWhereItDecides) {
  fake_.files[kUsers] = "Match host gate later x\n  User you\nMatch !host gate\n  User me\n";
  EXPECT_EQ(error_for({.name = "pod"}), "no error");
  EXPECT_NE(error_for({.name = "gate"}), "no error");
}

TEST_F(SshConfigFiles, ANameIsNotCompletedButUsedIfItIsWhole) {
  const std::string file =
      "CanonicalizeHostname yes\nCanonicalDomains a.example b.example\nHost proxied\n  ProxyCommand x\n"
      "Match canonical\n  User canonical\n";
  fake_.files[kUsers] = file;
  EXPECT_EQ(error_for({.name = "pod"}),
            "~/.ssh/config:1: CanonicalizeHostname: \"pod\" is not a whole name, and podrun does not try the "
            "domains (expected one such as pod.a.example, or -o CanonicalizeHostname=no)");
  for (const char* name : {"pod.a.example", "10.0.0.2", "2001:db8::1", "proxied"})
    EXPECT_EQ(settings_for({.name = name}).user, "canonical") << name;
  EXPECT_EQ(settings_for({.name = "pod"}, {.options = {"CanonicalizeHostname=no"}}).user, "me");
  fake_.files[kUsers] = "CanonicalizeMaxDots 2\n" + file;
  EXPECT_NE(error_for({.name = "pod.a.example"}), "no error");
  fake_.files[kUsers] = "CanonicalizeHostname yes\nMatch canonical\n  User canonical\n";
  EXPECT_EQ(settings_for({.name = "pod"}).user, "canonical");
}

TEST_F(SshConfigFiles, RefuseNamesWithShellCharactersInCommands) {
  fake_.files[kUsers] = "Match originalhost *x* exec \"test %h\"\nMatch all\n  ProxyCommand nc %h %p\n";
  const std::string why = " cannot be used in a command (expected a name without shell characters)";
  EXPECT_EQ(error_for({.name = "$(x)"}), "~/.ssh/config:1: \"$(x)\"" + why);
  EXPECT_EQ(error_for({.name = "a;b"}), "~/.ssh/config:3: \"a;b\"" + why);
  EXPECT_EQ(error_for({.name = "-oP"}), "~/.ssh/config:3: \"-op\"" + why);
  EXPECT_EQ(settings_for({.name = "2001:db8::1%eth0"}).proxy_command, "nc 2001:db8::1%eth0 22");
  EXPECT_THAT(fake_.commands, IsEmpty());
}

TEST_F(SshConfigFiles, TwoThousandHostsAndBlocksAreFast) {
  constexpr int kHosts = 2000;
  std::string text;
  for (int i = 0; i < kHosts; ++i) {
    text += fmt::format(
        "Host node-{0}.us-central2-b.project\n    HostName 10.0.{1}.{2}\n    IdentityFile ~/.ssh/key\n"
        "    UserKnownHostsFile=~/.ssh/known_{0}\n    HostKeyAlias=compute.{0}\n    IdentitiesOnly=yes\n",
        i, i / 256, i % 256);
  }
  fake_.files[kUsers] = text + "Host *\n  ServerAliveInterval 30\n";
  const std::clock_t start = std::clock();
  ssh::SshConfig config(fake_.world(), {});
  for (int i = 0; i < kHosts; ++i) {
    const ssh::SshSettings settings =
        config.settings_for({.name = fmt::format("node-{}.us-central2-b.project", i)});
    ASSERT_EQ(settings.host_key_alias, fmt::format("compute.{}", i));
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("cpu_seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 30);  // much less, but sanitizers and busy machines take their time
}

TEST(PatternList, MatchesIfOnePatternDoesAndNoNegatedOne) {
  EXPECT_TRUE(ssh::matches_pattern_list("tpu-1", "gpu-*,tpu-?"));
  EXPECT_FALSE(ssh::matches_pattern_list("tpu-1", "tpu-*,!tpu-1"));
  EXPECT_FALSE(ssh::matches_pattern_list("tpu-1", "!tpu-2")) << "nothing but negations matches nothing";
}

TEST(PatternList, DoesNotEndInAnEmptyPattern) {
  EXPECT_FALSE(ssh::matches_pattern_list("", ""));
  EXPECT_FALSE(ssh::matches_pattern_list("", "tpu-1,"));
}

TEST(ConfigWorldFiles, MayNotBeWrittenByOthers) {
  const TempDirectory directory;
  const ssh::ConfigWorld world = ssh::system_config_world("/home/me", "me");
  const std::string path = directory.write("config", "Port 22\n");
  EXPECT_EQ(world.read(path, ssh::FileTrust::checked), "Port 22\n");
  EXPECT_EQ(world.read(directory.path("missing"), ssh::FileTrust::checked), std::nullopt);
  EXPECT_EQ(world.read(directory.path(), ssh::FileTrust::checked), "");
  ::chmod(path.c_str(), 0666);
  EXPECT_EQ(usage_error([&] { world.read(path, ssh::FileTrust::checked); }),
            fmt::format(
                "bad owner or permissions of \"{}\" (it must be writable by its owner alone: chmod go-w {})",
                path, path));
  EXPECT_EQ(world.read(path, ssh::FileTrust::unchecked), "Port 22\n");
}

}  // namespace
}  // namespace podrun::test
