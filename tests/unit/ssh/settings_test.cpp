// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/ssh/config/algorithms.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

#include "support/fake_config_world.hpp"
#include "support/run_shell.hpp"
#include "support/usage_error.hpp"

namespace podrun::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ssh::SshSettings with_all(const Texts& options) {
  FakeConfigWorld fake;
  ssh::SshConfig config(fake.world(), {.options = options});
  return config.settings_for({.name = "pod-1"});
}

ssh::SshSettings with(const std::string& option) { return with_all({option}); }

std::string error_of(const std::string& option) {
  return usage_error([&] { with(option); });
}

std::vector<std::string> ignored(const Texts& options) {
  FakeConfigWorld fake;
  return ssh::SshConfig(fake.world(), {.options = options}).ignored();
}

TEST(SshSettings, HaveTheDefaultsOfSsh) {
  const ssh::SshSettings settings = with_all({});
  EXPECT_EQ(settings.agent_socket, "/run/agent");
  EXPECT_THAT(settings.user_known_hosts,
              ElementsAre("/home/me/.ssh/known_hosts", "/home/me/.ssh/known_hosts2"));
  EXPECT_THAT(settings.global_known_hosts,
              ElementsAre("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"));
  EXPECT_EQ(settings.host_key_check, ssh::HostKeyCheck::accept_new);
  EXPECT_THAT(settings.identity_files, IsEmpty());
}

TEST(SshSettings, TakeEverySpellingOfAnOption) {
  for (const char* option : {"Port=2222", "Port 2222", "Port = 2222", "port\t2222", "  PORT =2222  ",
                             "Port=\"2222\"", "Port '2222'", "Port=2222 # comment", "Port= 2222"}) {
    EXPECT_EQ(with(option).port, 2222) << option;
  }
}

TEST(SshSettings, SetWhereAndAsWhom) {
  EXPECT_EQ(with("HostName=10.0.0.1").host_name, "10.0.0.1");
  EXPECT_EQ(with("User=DOM\\me").user, "DOM\\me");
  EXPECT_EQ(with("User=\"a b\"").user, "a b");
  EXPECT_EQ(with("BindAddress 10.0.0.2").bind_address, "10.0.0.2");
  EXPECT_EQ(with("AddressFamily=inet6").address_family, ssh::AddressFamily::ipv6);
  EXPECT_EQ(with("AddressFamily=inet").address_family, ssh::AddressFamily::ipv4);
  EXPECT_EQ(with("AddressFamily=ANY").address_family, ssh::AddressFamily::any);
}

TEST(SshSettings, SetKeysAndAgent) {
  const ssh::SshSettings settings =
      with_all({"IdentityFile=~/.ssh/a", "IdentityFile=\"/k/b c\"", "IdentityFile=%d/c%%",
                "CertificateFile=~/x-cert.pub", "IdentitiesOnly=yes", "IdentityAgent=~/agent"});
  EXPECT_THAT(settings.identity_files, ElementsAre("/home/me/.ssh/a", "/k/b c", "/home/me/c%"));
  EXPECT_THAT(settings.certificate_files, ElementsAre("/home/me/x-cert.pub"));
  EXPECT_TRUE(settings.identities_only);
  EXPECT_EQ(settings.agent_socket, "/home/me/agent");
  EXPECT_THAT(with("IdentityFile=None").identity_files, ElementsAre("none"));
  EXPECT_THAT(with("CertificateFile=none").certificate_files, IsEmpty());
  EXPECT_EQ(with("IdentityAgent=none").agent_socket, "");
  EXPECT_EQ(with("IdentityAgent=SSH_AUTH_SOCK").agent_socket, "/run/agent");
}

TEST(SshSettings, SetHostKeyRules) {
  const auto check = [](const std::string& value) {
    return with("StrictHostKeyChecking=" + value).host_key_check;
  };
  EXPECT_EQ(check("yes"), ssh::HostKeyCheck::yes);
  EXPECT_EQ(check("accept-new"), ssh::HostKeyCheck::accept_new);
  EXPECT_EQ(check("no"), ssh::HostKeyCheck::no);
  EXPECT_EQ(check("OFF"), ssh::HostKeyCheck::no);
  EXPECT_EQ(check("ask"), ssh::HostKeyCheck::ask);
  EXPECT_THAT(with("UserKnownHostsFile=~/a \"/b c\" %d/d").user_known_hosts,
              ElementsAre("/home/me/a", "/b c", "/home/me/d"));
  EXPECT_THAT(with("UserKnownHostsFile=none").user_known_hosts, IsEmpty());
  EXPECT_THAT(with("GlobalKnownHostsFile=/dev/null").global_known_hosts, ElementsAre("/dev/null"));
  EXPECT_EQ(with("HostKeyAlias=pod").host_key_alias, "pod");
  EXPECT_TRUE(with("HashKnownHosts=yes").hash_known_hosts);
  EXPECT_FALSE(with("HashKnownHosts=no").hash_known_hosts);
}

TEST(SshSettings, SetTimes) {
  EXPECT_EQ(with("ConnectTimeout=5").connect_timeout, 5s);
  EXPECT_EQ(with("ConnectTimeout=2m").connect_timeout, 120s);
  EXPECT_EQ(with("ConnectTimeout=1h30m").connect_timeout, 5400s);
  EXPECT_EQ(with_all({"ConnectTimeout=none", "ConnectTimeout=5"}).connect_timeout, 5s);
  EXPECT_EQ(with("ConnectTimeout=none").connect_timeout, std::nullopt);
  EXPECT_EQ(with("ConnectTimeout=0").connect_timeout, std::nullopt);
  EXPECT_EQ(with("ConnectionAttempts=4").connection_attempts, 4U);
  EXPECT_EQ(with("ServerAliveInterval=0").alive_interval, 0s);
  EXPECT_EQ(with("ServerAliveCountMax=7").alive_count_max, 7U);
}

TEST(SshSettings, SetAlgorithms) {
  EXPECT_EQ(with("Ciphers=aes256-ctr,aes128-cbc").ciphers, "aes256-ctr,aes128-cbc");
  EXPECT_EQ(with("KexAlgorithms=of-tomorrow@example.org,curve25519-sha256").kex_algorithms,
            "curve25519-sha256");
  EXPECT_EQ(with("HostKeyAlgorithms=+ssh-rsa").host_key_algorithms,
            std::string(ssh::kHostKeyAlgorithms) + ",ssh-rsa");
  EXPECT_EQ(with("HostKeyAlgorithms=-ecdsa-*,rsa-sha2-256").host_key_algorithms, "ssh-ed25519,rsa-sha2-512");
  EXPECT_EQ(
      with("HostKeyAlgorithms=^rsa-sha2-512,ssh-ed25519-cert-v01@openssh.com").host_key_algorithms,
      "rsa-sha2-512,ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-256");
  EXPECT_EQ(with("MACs=-*etm*").macs, "hmac-sha2-256,hmac-sha2-512");
  EXPECT_EQ(with("MACs=hmac-sha2-512,hmac-sha2-*").macs,
            "hmac-sha2-512,hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256");
  EXPECT_EQ(error_of("MACs=umac-64@openssh.com"),
            "-o: bad MACs \"umac-64@openssh.com\" (expected some that libssh has, such as " +
                std::string(ssh::kMacs) + ")");
  EXPECT_NE(error_of("Ciphers=-*"), "no error");
}

TEST(SshSettings, NameTheBadValue) {
  EXPECT_EQ(error_of("Port=22x"), "-o: bad Port \"22x\" (expected 1-65535)");
  EXPECT_EQ(error_of("port 22 23"),
            "-o: bad Port \"23\" (expected one value; put one with blanks in double quotes)");
  EXPECT_EQ(error_of("HashKnownHosts=maybe"), "-o: bad HashKnownHosts \"maybe\" (expected yes or no)");
  EXPECT_EQ(error_of("StrictHostKeyChecking=never"),
            "-o: bad StrictHostKeyChecking \"never\" (expected accept-new, yes, no or ask)");
  EXPECT_EQ(error_of("ServerAliveInterval=soon"),
            "-o: bad ServerAliveInterval \"soon\" (expected seconds, or a time such as 10s, 5m or 1h30m)");
  EXPECT_EQ(error_of("ConnectionAttempts=0"), "-o: bad ConnectionAttempts \"0\" (expected a number from 1)");
  EXPECT_EQ(error_of("IdentityFile=~/.ssh/%z"),
            "-o: bad token \"%z\" in \"~/.ssh/%z\" (expected %C %L %d %h %i %j %k %l %n %p %r %u or %%)");
  EXPECT_EQ(error_of("IdentityFile=${SOCKET}/a"), "-o: \"${SOCKET}\" is not set here (set it)");
  EXPECT_EQ(error_of("IdentityFile=~nobody/a"),
            "-o: there is no user \"nobody\" (expected ~ or the ~ of a user)");
  for (const char* option :
       {"Port=", "Port", "Port=0", "Port=65536", "Port=-1", "Port=\"22", "User=\"\"",
        "HostName=%p.example.com", "IdentityFile=${HOME", "IdentityFile=${}", "IdentityFile=a%",
        "UserKnownHostsFile=a none", "AddressFamily=ipv4", "User=a\nb", "", "=22", "# Port=22"}) {
    EXPECT_THAT(error_of(option), testing::StartsWith("-o: ")) << option;
  }
}

TEST(SshSettings, RefuseWhatWouldChangeRouteOrTrust) {
  EXPECT_EQ(error_of("BindInterface=eth1"),
            "-o: \"BindInterface eth1\" is not supported (BindAddress takes the address of the interface)");
  for (const char* option :
       {"ProxyUseFdpass=yes", "BindInterface=eth1", "RevokedHostKeys=/krl", "KnownHostsCommand=/bin/x",
        "VerifyHostKeyDNS=yes", "CheckHostIP=yes", "Host=*", "Match=all", "Include=x"}) {
    EXPECT_THAT(error_of(option), HasSubstr("is not supported (")) << option;
  }
  for (const char* option : {"ProxyUseFdpass=no", "CanonicalizeHostname=No", "RevokedHostKeys=none",
                             "VerifyHostKeyDNS=ask", "CheckHostIP=no", "PubkeyAuthentication=yes"}) {
    EXPECT_EQ(error_of(option), "no error") << option;
    EXPECT_THAT(ignored({option}), IsEmpty()) << option;
  }
}

TEST(SshSettings, OfferNoKeysWhereThatIsConfigured) {
  EXPECT_TRUE(with_all({}).takes_keys());
  EXPECT_TRUE(with("PubkeyAuthentication=host-bound").takes_keys());
  EXPECT_FALSE(with("PubkeyAuthentication=no").takes_keys());
  EXPECT_TRUE(with("PreferredAuthentications=gssapi-with-mic,publickey").takes_keys());
  EXPECT_FALSE(with("PreferredAuthentications=password").takes_keys());
}

TEST(SshSettings, IgnoreOptionsWithoutAnEffectHere) {
  for (const char* option :
       {"ForwardAgent=yes", "controlmaster auto", "SendEnv=LANG LC_*", "GSSAPIAuthentication=yes",
        "LogLevel=DEBUG", "Protocol=2", "LocalForward=1 a:2"}) {
    EXPECT_THAT(ignored({option}), SizeIs(1)) << option;
  }
}

TEST(SshSettings, NameTheNearestKeyword) {
  EXPECT_EQ(error_of("Prot=22"), "-o: unknown keyword \"Prot\" (did you mean Port?)");
  EXPECT_EQ(error_of("StrictHostKeyCheck=no"),
            "-o: unknown keyword \"StrictHostKeyCheck\" (did you mean StrictHostKeyChecking?)");
  EXPECT_EQ(error_of("forwardagnet=no"), "-o: unknown keyword \"forwardagnet\" (did you mean ForwardAgent?)");
  EXPECT_EQ(error_of("ProxyJmp=x"), "-o: unknown keyword \"ProxyJmp\" (did you mean ProxyJump?)");
  EXPECT_EQ(error_of("zzz=x"), "-o: unknown keyword \"zzz\" (ssh_config(5) lists them)");
}

TEST(SshSettings, TheFirstOfSeveralCountsAsInSsh) {
  const Texts options = {"Port=1",          "LogLevel=INFO",   "port 2",        "IdentityFile=/a",
                         "IdentityFile=/b", "IdentityFile=/a", "loglevel=QUIET"};
  const ssh::SshSettings settings = with_all(options);
  EXPECT_EQ(settings.port, 1);
  EXPECT_THAT(settings.identity_files, ElementsAre("/a", "/b"));
  EXPECT_THAT(ignored(options), ElementsAre("-o: LogLevel"));
  EXPECT_EQ(usage_error([] { with_all({"Port=1", "Port=x"}); }), "-o: bad Port \"x\" (expected 1-65535)");
}

/// The `keyword value` line that `ssh -G` prints for an option; empty when ssh refuses it.
std::string ssh_says(const std::string& option, const std::string& keyword) {
  const std::string script = "exec ssh -G -F /dev/null -o \"$1\" host 2>/dev/null";
  std::istringstream output(run_words({"sh", "-c", script, "sh", option}).output);
  for (std::string line; std::getline(output, line);) {
    if (line.starts_with(keyword + " ")) return line.substr(keyword.size() + 1);
  }
  return "";
}

TEST(SshSettingsOracle, ReadWordsAsSshDoes) {
  for (const char* option :
       {"HostKeyAlias=a",          "HostKeyAlias a",       "HostKeyAlias = a",   "HostKeyAlias==a",
        "HostKeyAlias \t=\t a",    "HostKeyAlias=\"a b\"", "HostKeyAlias='a b'", "HostKeyAlias=a\\ b",
        "HostKeyAlias=\"a\\\"b\"", "HostKeyAlias='a\\'b'", "HostKeyAlias=a\\b",  "HostKeyAlias=\"a\\ b\"",
        "HostKeyAlias=a\"b c\"d",  "HostKeyAlias=a # c",   "HostKeyAlias=a#b",   "HostKeyAlias=\"a",
        "HostKeyAlias=a b",        "HostKeyAlias",         "HostKeyAlias=",      "hostkeyalias=a",
        "HostKeyAlias=\"\""}) {
    const bool refused = error_of(option) != "no error";
    const std::string alias = ssh_says(option, "hostkeyalias");
    EXPECT_EQ(refused ? "" : with(option).host_key_alias, alias) << option;
  }
}

TEST(SshSettingsOracle, KnowEveryKeywordOfSsh) {
  std::istringstream output(run_words({"sh", "-c", "ssh -G -F /dev/null host 2>/dev/null"}).output);
  std::size_t count = 0;
  for (std::string line; std::getline(output, line); ++count) {
    const std::string keyword = line.substr(0, line.find(' '));
    if (keyword != "host") {
      EXPECT_EQ(error_of(keyword + "=x").find("unknown keyword"), std::string::npos) << keyword;
    }
  }
  EXPECT_GT(count, 60U);
}

}  // namespace
}  // namespace podrun::test
