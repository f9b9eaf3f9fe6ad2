// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/host_keys/known_hosts.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/known_hosts_file.hpp"

namespace podrun::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const ssh::HostKey kFirst = test_key(1);
const ssh::HostKey kSecond = test_key(2);
const ssh::HostKey kRsa = test_key(1, "ssh-rsa");

ssh::KnownHosts known(const std::string& text) {
  return ssh::KnownHosts({std::make_shared<ssh::KnownHostsFile>(text, "known_hosts")});
}

/// `verdict`, and `file:line type` of the deciding line.
std::string check(const ssh::KnownHosts& hosts, const std::string& host, const ssh::HostKey& key,
                  std::uint16_t port = 22) {
  constexpr std::array kNames = {"unknown", "other_type", "changed", "known", "revoked"};
  const ssh::KeyCheck check = hosts.check(host, port, key);
  std::string text = kNames.at(static_cast<std::size_t>(check.verdict));
  if (const auto& entry = check.entry) {
    text += " " + entry->file + ":" + std::to_string(entry->line) + " " + entry->key.type;
  }
  return text;
}

TEST(KnownHosts, FindsNamesInAnyCase) {
  const ssh::KnownHosts hosts =
      known("# pod\n\nTPU-1,10.0.0.1 " + key_words(kFirst) + "\ntpu-2\t" + key_words(kSecond));
  EXPECT_EQ(check(hosts, "tpu-1", kFirst), "known known_hosts:3 ssh-ed25519");
  EXPECT_EQ(check(hosts, "Tpu-1", kFirst), "known known_hosts:3 ssh-ed25519");
  EXPECT_EQ(check(hosts, "10.0.0.1", kFirst), "known known_hosts:3 ssh-ed25519");
  EXPECT_EQ(check(hosts, "tpu-2", kSecond), "known known_hosts:4 ssh-ed25519");
  EXPECT_EQ(check(hosts, "tpu-3", kFirst), "unknown");
}

TEST(KnownHosts, DistinguishesAnotherKeyFromAnotherType) {
  const ssh::KnownHosts hosts =
      known("a " + key_words(kFirst) + "\nb " + key_words(kRsa) + "\na " + key_words(kSecond) + "\n");
  EXPECT_EQ(check(hosts, "a", kFirst), "known known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", kSecond), "known known_hosts:3 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", test_key(3)), "changed known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", kRsa), "other_type known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "b", kFirst), "other_type known_hosts:2 ssh-rsa");
  EXPECT_THAT(hosts.check("b", 22, kFirst).other_types, ElementsAre("ssh-rsa"));
}

TEST(KnownHosts, KeepsPortsApart) {
  const ssh::KnownHosts hosts = known("[a]:2222 " + key_words(kFirst) + "\na " + key_words(kSecond) + "\nb " +
                                      key_words(kFirst) + "\n");
  EXPECT_EQ(check(hosts, "a", kFirst, 2222), "known known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", kSecond, 2222), "changed known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", kFirst), "changed known_hosts:2 ssh-ed25519");
  // Without `[b]:2222`, `b` may say that it is known, and nothing else.
  EXPECT_EQ(check(hosts, "b", kFirst, 2222), "known known_hosts:3 ssh-ed25519");
  EXPECT_EQ(check(hosts, "b", kSecond, 2222), "unknown");
  EXPECT_EQ(check(hosts, "2001:DB8::1", kFirst, 2222), "unknown");
  EXPECT_EQ(check(known("[2001:db8::1]:2222 " + key_words(kFirst)), "2001:DB8::1", kFirst, 2222),
            "known known_hosts:1 ssh-ed25519");
}

TEST(KnownHosts, MatchesPatterns) {
  const ssh::KnownHosts hosts = known("*.Example.com,!bad.example.com,10.0.0.? " + key_words(kFirst) + "\n");
  EXPECT_EQ(check(hosts, "tpu.example.com", kFirst), "known known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a.b.EXAMPLE.com", kSecond), "changed known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "10.0.0.7", kFirst), "known known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "10.0.0.70", kFirst), "unknown");
  EXPECT_EQ(check(hosts, "bad.example.com", kFirst), "unknown");
  EXPECT_EQ(check(hosts, "example.com", kFirst), "unknown");
  EXPECT_EQ(check(known("* " + key_words(kFirst)), "a", kFirst, 2222), "known known_hosts:1 ssh-ed25519");
}

TEST(KnownHosts, FindsHashedNames) {
  const ssh::KnownHosts hosts = known(hashed_name("a") + " " + key_words(kFirst) + "\n" +
                                      hashed_name("[b]:2222") + " " + key_words(kRsa) + "\n");
  EXPECT_EQ(check(hosts, "A", kFirst), "known known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", kSecond), "changed known_hosts:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "c", kFirst), "unknown");
  EXPECT_EQ(check(hosts, "b", kRsa, 2222), "known known_hosts:2 ssh-rsa");
  EXPECT_EQ(check(hosts, "b", kFirst, 2222), "other_type known_hosts:2 ssh-rsa");
  EXPECT_EQ(check(hosts, "b", kRsa), "unknown");
}

TEST(KnownHosts, AHashedNameMayContradictAPlainOne) {
  const ssh::KnownHosts hosts =
      known("a " + key_words(kRsa) + "\n" + hashed_name("a") + " " + key_words(kFirst) + "\n");
  EXPECT_EQ(check(hosts, "a", kSecond), "changed known_hosts:2 ssh-ed25519");
  const ssh::HostKey other = test_key(1, "ecdsa-sha2-nistp256");
  EXPECT_EQ(check(hosts, "a", other), "other_type known_hosts:1 ssh-rsa");
  EXPECT_THAT(hosts.check("a", 22, other).other_types, ElementsAre("ssh-rsa", "ssh-ed25519"));
}

TEST(KnownHosts, ARevokedLineWins) {
  const std::string plain = "a,[a]:2222 " + key_words(kFirst) + "\n";
  for (const std::string& names :
       {std::string("*"), std::string("a"), hashed_name("a"), std::string("b,A,!c")}) {
    const ssh::KnownHosts hosts = known(plain + "@revoked " + names + " " + key_words(kFirst) + "\n");
    EXPECT_EQ(check(hosts, "a", kFirst), "revoked known_hosts:2 ssh-ed25519") << names;
    EXPECT_EQ(check(hosts, "a", kFirst, 2222), "revoked known_hosts:2 ssh-ed25519") << names;
    EXPECT_EQ(check(hosts, "a", kSecond), "changed known_hosts:1 ssh-ed25519") << names;
  }
  const ssh::KnownHosts elsewhere = known(plain + "@revoked b " + key_words(kFirst) + "\n");
  EXPECT_EQ(check(elsewhere, "a", kFirst), "known known_hosts:1 ssh-ed25519");
  // A revoked key is no other key of the host.
  EXPECT_EQ(check(elsewhere, "b", kSecond), "unknown");
}

TEST(KnownHosts, DoesNotTreatAnAuthorityAsAHostKey) {
  const ssh::KnownHostsFile file("@cert-authority * " + key_words(kFirst) + "\n", "f");
  EXPECT_EQ(file.authorities(), 1U);
  EXPECT_EQ(file.bad_lines(), 0U);
  EXPECT_EQ(check(known("@cert-authority * " + key_words(kFirst) + "\n"), "a", kFirst), "unknown");
}

TEST(KnownHosts, IgnoresBadLines) {
  const std::string good = key_words(kFirst);
  const std::string bad =
      "a\n"
      "a ssh-ed25519\n"
      "a ssh-ed25519 AAAA\n"
      "a 1024 35 1234567890\n"  // SSH 1
      "a " +
      good.substr(0, good.size() - 8) + "\n" +                                        // torn
      "a ssh-rsa" + good.substr(good.find(' ')) + "\n" +                              // not its type
      "a ssh-ed25519 !" + good.substr(good.find(' ') + 2) + "\n" +                    //
      "@wrong a " + good + "\n@revoked @cert-authority a " + good + "\n@revoked\n" +  //
      "|1|short|hash " + good + "\n|2|x " + good + "\n";
  const ssh::KnownHostsFile file(bad + "b " + good + " comment with words\r\n \t\n  # a\n", "f");
  EXPECT_EQ(file.bad_lines(), 12U);
  EXPECT_THAT(file.plain_keys_of("a"), IsEmpty());
  EXPECT_EQ(check(known(bad + "b " + good + "\r\n"), "b", kFirst), "known known_hosts:13 ssh-ed25519");
}

TEST(KnownHosts, SearchesAllFiles) {
  const ssh::KnownHosts hosts(
      {std::make_shared<ssh::KnownHostsFile>("a " + key_words(kFirst) + "\n", "user"),
       std::make_shared<ssh::KnownHostsFile>("", "none"),
       std::make_shared<ssh::KnownHostsFile>("a " + key_words(kSecond) + "\n[b]:2222 " + key_words(kFirst) +
                                                 "\n@revoked * " + key_words(test_key(3)) + "\n",
                                             "global"),
       std::make_shared<ssh::KnownHostsFile>("a " + key_words(test_key(3)) + "\n", "last")});
  EXPECT_EQ(check(hosts, "a", kFirst), "known user:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", kSecond), "known global:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", test_key(4)), "changed user:1 ssh-ed25519");
  EXPECT_EQ(check(hosts, "b", kSecond, 2222), "changed global:2 ssh-ed25519");
  EXPECT_EQ(check(hosts, "a", test_key(3)), "revoked global:3 ssh-ed25519");
}

TEST(KnownHosts, ListsKnownTypesInOrder) {
  const ssh::KnownHosts hosts =
      known("a* " + key_words(kRsa) + "\na " + key_words(kFirst) + "\n" + hashed_name("a") + " " +
            key_words(test_key(1, "ecdsa-sha2-nistp256")) + "\n[b]:2222 " + key_words(kFirst) + "\n");
  EXPECT_THAT(hosts.known_types("A", 22), ElementsAre("ssh-rsa", "ssh-ed25519"));
  EXPECT_THAT(hosts.known_types("a", 2222), ElementsAre("ssh-rsa", "ssh-ed25519"));
  EXPECT_THAT(hosts.known_types("b", 2222), ElementsAre("ssh-ed25519"));
  EXPECT_THAT(hosts.known_types("b", 22), IsEmpty());
}

TEST(KnownHosts, AddsKeys) {
  const auto file = std::make_shared<ssh::KnownHostsFile>("# one line\n", "f");
  const ssh::KnownHosts hosts({file});
  EXPECT_EQ(file->add(ssh::known_hosts_name("TPU-1", 2222), kFirst, ssh::NameForm::plain),
            "[tpu-1]:2222 " + key_words(kFirst) + "\n");
  EXPECT_EQ(check(hosts, "tpu-1", kFirst, 2222), "known f:2 ssh-ed25519");
  EXPECT_EQ(check(hosts, "tpu-1", kSecond, 2222), "changed f:2 ssh-ed25519");
  EXPECT_EQ(file->add(ssh::known_hosts_name("2001:DB8::1", 22), kFirst, ssh::NameForm::plain),
            "2001:db8::1 " + key_words(kFirst) + "\n");

  const std::string hashed = file->add("b", kSecond, ssh::NameForm::hashed);
  EXPECT_EQ(hashed.substr(0, 3), "|1|");
  EXPECT_EQ(hashed.find("b "), std::string::npos);
  EXPECT_EQ(check(hosts, "b", kSecond), "known f:4 ssh-ed25519");
  EXPECT_EQ(check(known(hashed), "b", kSecond), "known known_hosts:1 ssh-ed25519");
}

TEST(KnownHosts, ANameThatWouldNotReadBackIsHashed) {
  for (const std::string name : {"my host", "a,b", "*", "!a", "#a", "@a", "|a", "a\nb", ""}) {
    ssh::KnownHostsFile file("", "f");
    const std::string line = file.add(name, kFirst, ssh::NameForm::plain);
    EXPECT_TRUE(ssh::KnownHostsFile(line, "f").find(name, kFirst)) << line;
    EXPECT_TRUE(file.find(name, kFirst)) << line;
    EXPECT_FALSE(file.find("b", kFirst)) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  }
}

std::string forget(const std::string& text, std::size_t removed,
                   const std::vector<std::pair<std::string, std::uint16_t>>& hosts = {{"A", 22},
                                                                                      {"b", 2222}}) {
  const ssh::ForgottenKeys result = ssh::forget_keys(text, hosts);
  EXPECT_EQ(result.removed, removed) << text;
  return result.text;
}

TEST(ForgetKeys, RemovesLinesAndNames) {
  const std::string key = " " + key_words(kFirst) + " comment\n";
  EXPECT_EQ(forget("# a\n\na" + key + "c" + key, 1), "# a\n\nc" + key);
  EXPECT_EQ(forget("x,A,y" + key, 1), "x,y" + key);
  EXPECT_EQ(forget("a,[b]:2222" + key, 1), "");
  EXPECT_EQ(forget("  a,c\t" + key, 1), "  c\t" + key);
  EXPECT_EQ(forget("[B]:2222" + key + "b" + key + "[a]:2222" + key + "[b]:22" + key, 1),
            "b" + key + "[a]:2222" + key + "[b]:22" + key);
  EXPECT_EQ(
      forget(hashed_name("a") + key + hashed_name("[b]:2222") + key + hashed_name("c") + "x", 2).substr(0, 3),
      "|1|");
  EXPECT_EQ(forget("a,!b" + key + "a,*.c,!b" + key, 2), "*.c,!b" + key);
  // What looks like a hash in a list names no host, and must not become the name of one.
  EXPECT_EQ(forget("a," + hashed_name("a") + key + "a," + hashed_name("a") + ",x" + key, 2), "x" + key);
}

TEST(ForgetKeys, LeavesOtherLinesUnchanged) {
  const std::string key = " " + key_words(kFirst);
  const std::string text = "#a" + key + "\r\n\n\t \nA*" + key + "\na ssh-ed25519 torn\n@revoked a" + key +
                           "\n@cert-authority a" + key + "\nab" + key + "\r\nb" + key;
  EXPECT_EQ(forget(text, 0), text);
  EXPECT_EQ(forget(text + "\na" + key, 1), text + "\n");
  EXPECT_EQ(forget("a" + key + "\r\n" + text, 1), text);
  EXPECT_EQ(forget(text, 0, {}), text);
  EXPECT_EQ(forget("", 0), "");
}

}  // namespace
}  // namespace podrun::test
