// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/host_keys/host_keys.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"
#include "podrun/ssh/config/algorithms.hpp"
#include "podrun/ssh/host_keys/known_hosts_store.hpp"

#include "support/known_hosts_file.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

using Kind = ssh::HostKeyDecision::Kind;

const ssh::HostKey kFirst = test_key(1);
const ssh::HostKey kSecond = test_key(2);
const ssh::HostKey kRsa = test_key(1, "ssh-rsa");

class HostKeysTest : public testing::Test {
 protected:
  HostKeysTest() {
    settings.user_known_hosts = {directory.path("known_hosts"), directory.path("known_hosts2")};
    settings.global_known_hosts = {directory.path("global")};
  }

  std::string words(const ssh::HostKey& key) { return " " + key_words(key) + "\n"; }
  std::string stored() { return directory.read("known_hosts"); }
  /// As in another run.
  Kind judged_again(const std::string& host, const ssh::HostKey& key) {
    return ssh::HostKeys().judge(settings, host, key).kind;
  }
  std::string refusal(const std::string& host, const ssh::HostKey& key) {
    const ssh::HostKeyDecision decision = keys.judge(settings, host, key);
    EXPECT_EQ(decision.kind, Kind::refused);
    EXPECT_EQ(decision.failure.stage, link::Stage::host_key);
    const std::string what = report::reason(decision.failure);
    EXPECT_EQ(what.find('\n'), std::string::npos);
    return what;
  }

  TempDirectory directory;
  ssh::SshSettings settings;
  ssh::HostKeys keys;
};

TEST_F(HostKeysTest, StoresANewKeyOnce) {
  EXPECT_EQ(keys.judge(settings, "Tpu-1", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(settings, "tpu-1", kFirst).kind, Kind::accepted);
  EXPECT_EQ(stored(), "tpu-1" + words(kFirst));
  settings.port = 2222;
  EXPECT_EQ(keys.judge(settings, "tpu-2", kFirst).kind, Kind::accepted);
  EXPECT_EQ(stored(), "tpu-1" + words(kFirst) + "[tpu-2]:2222" + words(kFirst));
  EXPECT_EQ(keys.warning(), "");
  EXPECT_FALSE(directory.has("known_hosts2"));
  settings.host_key_check = ssh::HostKeyCheck::yes;
  EXPECT_EQ(judged_again("tpu-2", kFirst), Kind::accepted);
}

TEST_F(HostKeysTest, MakesTheFileForTheUserAlone) {
  settings.user_known_hosts = {directory.path(".ssh/known_hosts")};
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(directory.read(".ssh/known_hosts"), "a" + words(kFirst));
  struct stat status {};
  ASSERT_EQ(::stat(directory.path(".ssh").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  ASSERT_EQ(::stat(directory.path(".ssh/known_hosts").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(HostKeysTest, EndsATornLastLine) {
  directory.write("known_hosts", "b ssh-ed25519 AAAA");
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(stored(), "b ssh-ed25519 AAAA\na" + words(kFirst));
  EXPECT_EQ(judged_again("a", kSecond), Kind::refused);
}

TEST_F(HostKeysTest, KeepsLinesThatOthersWroteMeanwhile) {
  keys.load(settings);
  directory.write("known_hosts", "b" + words(kSecond));
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(stored(), "b" + words(kSecond) + "a" + words(kFirst));
}

TEST_F(HostKeysTest, HashesNamesWithHashKnownHosts) {
  settings.hash_known_hosts = true;
  settings.port = 2222;
  EXPECT_EQ(keys.judge(settings, "tpu-1", kFirst).kind, Kind::accepted);
  EXPECT_THAT(stored(), StartsWith("|1|"));
  EXPECT_EQ(stored().find("tpu"), std::string::npos);
  EXPECT_EQ(judged_again("TPU-1", kFirst), Kind::accepted);
  EXPECT_EQ(judged_again("tpu-1", kSecond), Kind::refused);
}

TEST_F(HostKeysTest, AnAliasReplacesNameAndPort) {
  settings.host_key_alias = "Pod";
  settings.port = 2222;
  EXPECT_EQ(keys.judge(settings, "10.0.0.1", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(settings, "10.0.0.2", kFirst).kind, Kind::accepted);
  EXPECT_EQ(stored(), "pod" + words(kFirst));
  EXPECT_THAT(refusal("10.0.0.3", kSecond), HasSubstr("ssh-keygen -R pod -f "));
}

TEST_F(HostKeysTest, AcceptsKeysThatItCannotStore) {
  settings.user_known_hosts = {directory.path("no/such/known_hosts")};
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.warning(), "cannot write \"" + directory.path("no/such/known_hosts") +
                                "\": No such file or directory (new host keys are kept for this run only)");
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_THAT(refusal("a", kSecond), StartsWith("the host key has changed: "));
}

TEST_F(HostKeysTest, AppendsWithoutALock) {
  directory.write("known_hosts", "");
  const int other = ::open(directory.path("known_hosts").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(settings, "b", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.warning(), "");
  EXPECT_EQ(stored(), "a" + words(kFirst) + "b" + words(kFirst));
  ::close(other);
}

TEST_F(HostKeysTest, KeepsKeysForTheRunIfNoFileIsNamed) {
  settings.user_known_hosts.clear();
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(refusal("a", kSecond), "the host key has changed: " + ssh::fingerprint(kSecond) +
                                       " (ssh-ed25519), but it was " + ssh::fingerprint(kFirst) +
                                       " (ssh-ed25519) before, in this run");
  EXPECT_EQ(keys.warning(), "");
  EXPECT_TRUE(directory.empty());
}

TEST_F(HostKeysTest, TreatsDevNullAsNoFile) {
  settings.user_known_hosts = {"/dev/null"};
  settings.host_key_check = ssh::HostKeyCheck::no;
  settings.host_key_alias = "pod";
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(settings, "b", kSecond).kind, Kind::accepted);
  settings.host_key_check = ssh::HostKeyCheck::accept_new;
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(settings, "b", kSecond).kind, Kind::refused);
  EXPECT_EQ(keys.warning(), "");
}

TEST_F(HostKeysTest, RefusesAChangedKey) {
  directory.write("known_hosts", "#\n[a]:2222" + words(kFirst));
  settings.port = 2222;
  for (const ssh::HostKeyCheck check :
       {ssh::HostKeyCheck::accept_new, ssh::HostKeyCheck::yes, ssh::HostKeyCheck::ask}) {
    settings.host_key_check = check;
    EXPECT_EQ(refusal("a", kSecond),
              "the host key has changed: " + ssh::fingerprint(kSecond) +
                  " (ssh-ed25519), but known_hosts has " + ssh::fingerprint(kFirst) + " (" +
                  directory.path("known_hosts") +
                  ":2); compare it with the host's own: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub; if "
                  "it is the same: ssh-keygen -R '[a]:2222' -f " +
                  directory.path("known_hosts"));
  }
  EXPECT_THAT(keys.questions(), IsEmpty());
  EXPECT_EQ(keys.judge(settings, "a", kSecond).failure.retry, link::Retry::no);
  EXPECT_EQ(stored(), "#\n[a]:2222" + words(kFirst));
}

TEST_F(HostKeysTest, NoAcceptsAChangedKeyInDoubtAndWarnsOnce) {
  directory.write("known_hosts", "a" + words(kFirst) + hashed_name("r") + words(kRsa));
  const std::string before = stored();
  settings.host_key_check = ssh::HostKeyCheck::no;
  std::vector<std::string> warnings;
  keys.on_changed([&](const std::string& warning) { warnings.push_back(warning); });
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(settings, "a", kSecond).kind, Kind::in_doubt);
  EXPECT_EQ(keys.judge(settings, "a", kSecond).kind, Kind::in_doubt);
  EXPECT_THAT(warnings, ElementsAre("WARNING: the host key of a has changed: " + ssh::fingerprint(kSecond) +
                                    " (ssh-ed25519), but known_hosts has " + ssh::fingerprint(kFirst) + " (" +
                                    directory.path("known_hosts") +
                                    ":1); somebody may be listening in. StrictHostKeyChecking is no, so the "
                                    "login goes on, without an agent"));
  EXPECT_EQ(keys.judge(settings, "r", kFirst).kind, Kind::connect_again);
  EXPECT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(keys.judge(settings, "r", kFirst).kind, Kind::in_doubt);
  EXPECT_THAT(warnings, SizeIs(2));
  EXPECT_EQ(stored(), before);
}

TEST_F(HostKeysTest, NamesTheLineOfAnotherKeyType) {
  settings.host_key_check = ssh::HostKeyCheck::yes;
  EXPECT_THAT(refusal("a", kRsa), HasSubstr(" ssh-keygen -lf /etc/ssh/ssh_host_rsa_key.pub;"));
  EXPECT_THAT(refusal("a", test_key(1, "ecdsa-sha2-nistp384")),
              HasSubstr(" ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub;"));
}

TEST_F(HostKeysTest, RefusesAShortRsaKeyEvenAKnownOne) {
  directory.write("known_hosts", "a" + words(kRsa));
  EXPECT_EQ(keys.judge(settings, "a", kRsa).kind, Kind::accepted);
  settings.required_rsa_size = 3072;
  EXPECT_EQ(refusal("a", kRsa),
            "the host key " + ssh::fingerprint(kRsa) +
                " (ssh-rsa) has 2048 bits, and RequiredRSASize is 3072 (give the host a longer key)");
  EXPECT_EQ(keys.judge(settings, "b", kFirst).kind, Kind::accepted);
}

TEST_F(HostKeysTest, RefusesAnUnknownKeyIfACertificateIsRequired) {
  directory.write("known_hosts", "#\n@cert-authority *.pod" + words(kSecond) + "known.pod" + words(kFirst));
  settings.port = 2222;
  for (const ssh::HostKeyCheck check :
       {ssh::HostKeyCheck::accept_new, ssh::HostKeyCheck::yes, ssh::HostKeyCheck::ask}) {
    settings.host_key_check = check;
    EXPECT_EQ(refusal("a.pod", kFirst),
              "the host key is not known: " + ssh::fingerprint(kFirst) + " (ssh-ed25519), and " +
                  directory.path("known_hosts") +
                  ":2 (@cert-authority) wants a host certificate, which podrun cannot check (connect by ssh: "
                  "--via 'ssh {host}')");
  }
  EXPECT_THAT(keys.questions(), IsEmpty());
  EXPECT_EQ(keys.judge(settings, "known.pod", kFirst).kind, Kind::accepted);
  settings.host_key_check = ssh::HostKeyCheck::accept_new;
  EXPECT_EQ(keys.judge(settings, "b", kFirst).kind, Kind::accepted);
}

TEST_F(HostKeysTest, AsksNothingInBatchMode) {
  settings.host_key_check = ssh::HostKeyCheck::ask;
  settings.batch_mode = true;
  const ssh::HostKeyDecision decision = keys.judge(settings, "a", kFirst);
  EXPECT_EQ(decision.kind, Kind::refused);
  EXPECT_EQ(decision.failure.retry, link::Retry::no);
  EXPECT_THAT(report::reason(decision.failure), HasSubstr("BatchMode is yes; "));
  EXPECT_THAT(keys.questions(), IsEmpty());
}

TEST_F(HostKeysTest, SearchesManyHashedNamesOnAnotherThread) {
  std::string text = hashed_name("changed") + words(kSecond) + hashed_name("known") + words(kFirst);
  for (int line = 0; line < 1000; ++line)
    text += "|1|" + std::string(27, 'A') + "=|" + std::string(27, 'A') + '=' + words(kSecond);
  directory.write("known_hosts", text);
  EXPECT_EQ(keys.search_for(settings, "known", kFirst), nullptr);
  const auto search = keys.search_for(settings, "changed", kFirst);
  ASSERT_NE(search, nullptr);
  EXPECT_EQ(keys.judge(settings, "new", kFirst).kind, Kind::accepted);
  search->run();
  EXPECT_EQ(keys.judge(settings, "changed", kFirst, search.get()).kind, Kind::refused);
  EXPECT_EQ(keys.judge(settings, "changed", kFirst).kind, Kind::refused);
}

TEST_F(HostKeysTest, RefusesARevokedKey) {
  directory.write("known_hosts", "a" + words(kFirst));
  directory.write("global", "@revoked *" + words(kFirst));
  EXPECT_EQ(refusal("a", kFirst), "the host key " + ssh::fingerprint(kFirst) + " (ssh-ed25519) is revoked (" +
                                      directory.path("global") + ":1)");
  EXPECT_EQ(keys.judge(settings, "b", kSecond).kind, Kind::accepted);
}

TEST_F(HostKeysTest, YesExplainsHowToCompareTheKey) {
  settings.host_key_check = ssh::HostKeyCheck::yes;
  settings.port = 2222;
  EXPECT_EQ(
      refusal("a", kFirst),
      "the host key is not known: " + ssh::fingerprint(kFirst) +
          " (ssh-ed25519), and StrictHostKeyChecking is yes; compare it with the host's own: ssh-keygen "
          "-lf /etc/ssh/ssh_host_ed25519_key.pub; if it is the same: -o "
          "StrictHostKeyChecking=accept-new");
  EXPECT_THAT(keys.questions(), IsEmpty());
  EXPECT_TRUE(directory.empty());
}

TEST_F(HostKeysTest, AskStoresAcceptedKeys) {
  settings.host_key_check = ssh::HostKeyCheck::ask;
  settings.port = 2222;
  for (const char* host : {"a", "b", "a"}) {
    const ssh::HostKeyDecision decision = keys.judge(settings, host, kFirst);
    EXPECT_EQ(decision.kind, Kind::refused);
    EXPECT_EQ(decision.failure.retry, link::Retry::after_asking);
    EXPECT_THAT(report::reason(decision.failure),
                StartsWith("the host key is not known: " + ssh::fingerprint(kFirst)));
  }
  ASSERT_THAT(keys.questions(), SizeIs(2));
  EXPECT_EQ(keys.questions()[1].name, "[b]:2222");
  EXPECT_EQ(keys.questions()[1].key, kFirst);
  EXPECT_TRUE(directory.empty());

  keys.accept({keys.questions().front()});
  EXPECT_EQ(stored(), "[a]:2222" + words(kFirst));
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(settings, "b", kFirst).kind, Kind::refused);
  keys.accept(keys.questions());
  EXPECT_THAT(keys.questions(), IsEmpty());
  EXPECT_EQ(stored(), "[a]:2222" + words(kFirst) + "[b]:2222" + words(kFirst));
}

TEST_F(HostKeysTest, AsksForTheTypesOfKnownKeysFirst) {
  directory.write("known_hosts", "a" + words(kRsa) + "*.c" + words(test_key(1, "ecdsa-sha2-nistp384")));
  const std::string ours(ssh::kHostKeyAlgorithms);
  EXPECT_EQ(keys.algorithms(settings, "other"), ours);
  EXPECT_EQ(
      keys.algorithms(settings, "a"),
      "rsa-sha2-512,rsa-sha2-256,ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521");
  EXPECT_THAT(keys.algorithms(settings, "b.C"), StartsWith("ecdsa-sha2-nistp384,ssh-ed25519,"));
  settings.host_key_algorithms = "ssh-ed25519,rsa-sha2-256";
  EXPECT_EQ(keys.algorithms(settings, "a"), "rsa-sha2-256,ssh-ed25519");
  settings.host_key_alias = "A";
  EXPECT_EQ(keys.algorithms(settings, "other"), "rsa-sha2-256,ssh-ed25519");
}

TEST_F(HostKeysTest, ConnectsAgainOnceForAKeyOfAnotherType) {
  directory.write("known_hosts", hashed_name("a") + words(kRsa));
  EXPECT_THAT(keys.algorithms(settings, "a"), StartsWith("ssh-ed25519,"));
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::connect_again);
  EXPECT_THAT(keys.algorithms(settings, "a"), StartsWith("rsa-sha2-512,rsa-sha2-256,ssh-ed25519,"));
  EXPECT_EQ(keys.judge(settings, "a", kRsa).kind, Kind::accepted);
  EXPECT_EQ(
      refusal("a", kFirst),
      "the host key has changed: " + ssh::fingerprint(kFirst) + " (ssh-ed25519), but known_hosts has " +
          ssh::fingerprint(kRsa) + " (ssh-rsa, " + directory.path("known_hosts") +
          ":1); compare it with the host's own: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub; if it "
          "is the same: ssh-keygen -R a -f " +
          directory.path("known_hosts"));
}

TEST_F(HostKeysTest, DoesNotConnectAgainForATypeThatWasAskedForFirst) {
  directory.write("known_hosts",
                  "a" + words(kRsa) + "b" + words(test_key(1, "sk-ecdsa-sha2-nistp256@openssh.com")));
  EXPECT_THAT(refusal("a", kFirst), HasSubstr("(ssh-rsa, "));
  settings.host_key_algorithms = "ssh-ed25519";  // not to be had at all
  EXPECT_THAT(refusal("a", kFirst), HasSubstr("(ssh-rsa, "));
}

TEST_F(HostKeysTest, ReadsEachFileOnce) {
  directory.write("known_hosts", "a" + words(kFirst));
  directory.write("global", "g" + words(kFirst));
  keys.load(settings);
  directory.write("known_hosts", "a" + words(kSecond));
  settings.host_key_check = ssh::HostKeyCheck::yes;
  ssh::SshSettings others = settings;
  others.user_known_hosts = {directory.path("global")};
  EXPECT_EQ(keys.judge(settings, "a", kFirst).kind, Kind::accepted);
  EXPECT_EQ(keys.judge(others, "a", kFirst).kind, Kind::refused);
  EXPECT_EQ(keys.judge(others, "g", kFirst).kind, Kind::accepted);
}

TEST(KnownHostsStore, LosesNoKeyToAReplacementOfTheFile) {
  constexpr int kKeys = 300;
  const TempDirectory directory;
  const std::string path = directory.write("known_hosts", "");
  const auto line = [](const std::string& name) { return name + " " + key_words(kFirst) + "\n"; };
  std::atomic<bool> appending = true;
  std::thread appends([&] {
    for (int number = 0; number < kKeys; ++number)
      EXPECT_EQ(ssh::append_known_host(path, line("host" + std::to_string(number))), "");
    appending = false;
  });
  while (appending) {
    EXPECT_EQ(ssh::append_known_host(path, line("other")), "");
    ssh::forget_host_keys(path, {{"other", 22}});
  }
  appends.join();
  const std::string text = directory.read("known_hosts");
  for (int number = 0; number < kKeys; ++number)
    EXPECT_NE(("\n" + text).find("\n" + line("host" + std::to_string(number))), std::string::npos) << number;
}

TEST_F(HostKeysTest, NamesAFileThatCannotBeRead) {
  settings.global_known_hosts = {directory.path()};
  EXPECT_EQ(usage_error([&] { keys.load(settings); }),
            "cannot read \"" + directory.path() + "\": Is a directory (it says which host keys are known)");
}

}  // namespace
}  // namespace podrun::test
