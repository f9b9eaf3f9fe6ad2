// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/auth/identities.hpp"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/ssh/host_keys/key_blob.hpp"

#include "support/ssh_keygen.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::ssh {
namespace {

using test::blob_in;
using test::make_certificate;
using test::make_key;
using test::ssh_keygen;
using test::Texts;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Texts kEd25519 = {"ed25519"};
const Texts kQuickLock = {"ed25519", "-a", "1"};  // one round of key derivation

SshSettings files(const Texts& identities, const Texts& certificates = {}) {
  SshSettings settings;
  settings.identity_files = identities;
  settings.certificate_files = certificates;
  return settings;
}

/// A home with an empty .ssh, and what stands of each identity: `name` ready, `name?` locked, `name-` without
/// a private half.
class IdentitiesTest : public testing::Test {
 protected:
  IdentitiesTest() { std::filesystem::create_directory(directory_.path(".ssh")); }

  std::string path(const std::string& name) const { return directory_.path(name); }
  std::string blob(const std::string& name) const { return blob_in(directory_, name); }
  IdentityList find(const SshSettings& settings) { return identities_.find(settings); }
  Texts names(const SshSettings& settings) {
    Texts result;
    for (const auto& identity : find(settings)) {
      const char* state = !identity->locked_file.empty() ? "?" : identity->key ? "" : "-";
      result.push_back(std::filesystem::path(identity->name).filename().string() + state);
    }
    return result;
  }
  std::string error(const SshSettings& settings) {
    return usage_error([&] { find(settings); });
  }
  void write_binary_key(const std::string& name, const std::string& binary) {
    directory_.write("binary", binary);
    const std::string base64 = test::run_words({"base64", path("binary")}).output;
    directory_.write(
        name, "-----BEGIN OPENSSH PRIVATE KEY-----\n" + base64 + "-----END OPENSSH PRIVATE KEY-----\n");
    std::filesystem::permissions(path(name), std::filesystem::perms(0600));
  }
  /// The path as messages show it.
  std::string quoted(const std::string& name) const { return '"' + path(name) + '"'; }

  test::TempDirectory directory_;
  Identities identities_{directory_.path()};
};

TEST_F(IdentitiesTest, ReadsEveryKindOfKeyWithItsPublicHalf) {
  const std::vector<Texts> types = {
      {"ed25519"},
      {"ecdsa", "-b", "256"},
      {"ecdsa", "-b", "384"},
      {"ecdsa", "-b", "521"},
      {"rsa", "-b", "2048"},
      {"ecdsa", "-b", "256", "-m", "PEM"},
      {"ecdsa", "-b", "521", "-m", "PEM"},
      {"rsa", "-b", "2048", "-m", "PEM"},
      {"rsa", "-b", "2048", "-m", "PKCS8"},
  };
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string name = fmt::format("key{}", i);
    const IdentityList list = find(files({make_key(directory_, name, types[i])}));
    ASSERT_EQ(list.size(), 1U) << name;
    EXPECT_EQ(list[0]->name, path(name));
    EXPECT_EQ(list[0]->public_blob, blob(name + ".pub")) << name;
    EXPECT_TRUE(list[0]->key) << name;
    EXPECT_EQ(public_blob(list[0]->key), blob(name + ".pub")) << name;
    EXPECT_EQ(list[0]->locked_file, "");
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(identities_.warnings(), IsEmpty());
}

TEST_F(IdentitiesTest, TakesTheDefaultFilesThatAreThere) {
  EXPECT_THAT(names(files({})), IsEmpty());
  Identities identities(directory_.path());
  for (const char* name : {".ssh/google_compute_engine", ".ssh/id_ed25519", ".ssh/id_other"}) {
    make_key(directory_, name, kEd25519);
  }
  const IdentityList list = identities.find(files({}));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]->name, path(".ssh/id_ed25519"));
  EXPECT_EQ(list[1]->name, path(".ssh/google_compute_engine"));
  EXPECT_THAT(identities.warnings(), IsEmpty());
}

TEST_F(IdentitiesTest, SaysLittleOfADsaKeyThatIsConfigured) {
  try {
    make_key(directory_, "probe", {"dsa"});
  } catch (const std::exception&) {
    GTEST_SKIP() << "this ssh-keygen makes no DSA keys";
  }
  for (const Texts& type : {Texts{"dsa"}, Texts{"dsa", "-m", "PEM"}}) {
    Identities identities(directory_.path());
    const std::string name = fmt::format("dsa{}", type.size());
    SshSettings settings = files({make_key(directory_, name, type)});
    const std::string problem = quoted(name) + " is a DSA key (servers take none)";
    EXPECT_EQ(usage_error([&] { identities.find(settings); }), "--identity: " + problem);
    settings.optional_files = settings.identity_files;
    EXPECT_THAT(identities.find(settings), IsEmpty());
    EXPECT_THAT(identities.warnings(), IsEmpty());
    EXPECT_THAT(identities.ignored(), ElementsAre(problem));
  }
}

TEST_F(IdentitiesTest, OffersNamedFilesInTheirOrderAndOnce) {
  make_key(directory_, "a", kEd25519);
  make_key(directory_, "b", kEd25519);
  EXPECT_THAT(names(files({path("b"), path("a"), path("b")})), ElementsAre("b", "a"));
  EXPECT_THAT(names(files({"none"})), IsEmpty());
  EXPECT_THAT(names(files({"/dev/null"})), IsEmpty());
}

TEST_F(IdentitiesTest, ReadsEachFileOnce) {
  make_key(directory_, "a", kEd25519);
  const SshKey key = find(files({path("a")}))[0]->key;
  std::filesystem::remove(path("a"));
  EXPECT_EQ(find(files({path("a")}))[0]->key, key);
}

TEST_F(IdentitiesTest, UnlocksWithTheRightPassphraseOnly) {
  const std::vector<Texts> types = {kQuickLock,
                                    {"rsa", "-b", "2048", "-a", "1"},
                                    {"rsa", "-b", "2048", "-m", "PEM"},
                                    {"rsa", "-b", "2048", "-m", "PKCS8"}};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string name = fmt::format("key{}", i);
    const SshSettings settings = files({make_key(directory_, name, types[i], "open sesame")});
    const auto identity = find(settings).at(0);
    EXPECT_EQ(identity->locked_file, path(name));
    EXPECT_FALSE(identity->key);
    EXPECT_EQ(identity->public_blob, blob(name + ".pub")) << name;
    EXPECT_FALSE(identities_.unlock(path(name), "open"));
    EXPECT_FALSE(identities_.unlock(path(name), ""));
    EXPECT_FALSE(identity->key);
    EXPECT_TRUE(identities_.unlock(path(name), "open sesame"));
    EXPECT_EQ(public_blob(identity->key), blob(name + ".pub")) << name;
    EXPECT_EQ(identity->locked_file, "");
    EXPECT_EQ(find(settings).at(0), identity);
    EXPECT_TRUE(identities_.unlock(path(name), "whatever"));  // it is open
  }
  EXPECT_FALSE(identities_.unlock(path("unknown"), ""));
}

TEST_F(IdentitiesTest, KnowsAPublicHalfThatOnlyTheLockedFileHas) {
  make_key(directory_, "openssh", kQuickLock, "open sesame");
  make_key(directory_, "pem", {"rsa", "-b", "2048", "-m", "PEM"}, "open sesame");
  const std::string openssh = blob("openssh.pub");
  const std::string pem = blob("pem.pub");
  for (const char* name : {"openssh.pub", "pem.pub"}) std::filesystem::remove(path(name));
  const IdentityList list = find(files({path("openssh"), path("pem")}));
  EXPECT_EQ(list[0]->public_blob, openssh);
  EXPECT_EQ(list[1]->public_blob, "");
  EXPECT_TRUE(identities_.unlock(path("pem"), "open sesame"));
  EXPECT_EQ(list[1]->public_blob, pem);
}

TEST_F(IdentitiesTest, OffersACertificateBeforeItsKey) {
  make_key(directory_, "ca", kEd25519);
  make_key(directory_, "a", kEd25519);
  make_key(directory_, "b", {"rsa", "-b", "2048"});
  make_certificate(directory_, "ca", "a");
  make_certificate(directory_, "ca", "b");
  const IdentityList list = find(files({path("a"), path("b")}));
  ASSERT_EQ(list.size(), 4U);
  EXPECT_THAT(names(files({path("a"), path("b")})), ElementsAre("a-cert.pub", "a", "b-cert.pub", "b"));
  EXPECT_EQ(list[0]->public_blob, blob("a-cert.pub"));
  EXPECT_EQ(public_blob(list[0]->key), blob("a-cert.pub"));
  EXPECT_EQ(public_blob(list[1]->key), blob("a.pub"));
  EXPECT_EQ(public_blob(list[2]->key), blob("b-cert.pub"));
  EXPECT_THAT(identities_.warnings(), IsEmpty());
}

TEST_F(IdentitiesTest, MatchesANamedCertificateToItsKey) {
  make_key(directory_, "ca", kEd25519);
  make_key(directory_, "a", kEd25519);
  make_key(directory_, "b", kEd25519);
  std::filesystem::rename(make_certificate(directory_, "ca", "b"), path("other"));
  const SshSettings settings = files({path("a"), path("b")}, {path("other")});
  EXPECT_THAT(names(settings), ElementsAre("a", "other", "b"));
  EXPECT_EQ(public_blob(find(settings)[1]->key), blob("other"));
  EXPECT_THAT(names(files({path("b")})), ElementsAre("b"));  // of another host
  EXPECT_THAT(names(files({path("a")}, {path("other")})),
              ElementsAre("other-", "a"));  // its key: in an agent
}

TEST_F(IdentitiesTest, UnlocksACertificateWithItsKey) {
  make_key(directory_, "ca", kEd25519);
  make_key(directory_, "a", kQuickLock, "open sesame");
  make_certificate(directory_, "ca", "a");
  EXPECT_THAT(names(files({path("a")})), ElementsAre("a-cert.pub?", "a?"));
  const IdentityList list = find(files({path("a")}));
  EXPECT_EQ(list[0]->locked_file, path("a"));
  EXPECT_TRUE(identities_.unlock(path("a"), "open sesame"));
  EXPECT_EQ(public_blob(list[0]->key), blob("a-cert.pub"));
  EXPECT_THAT(names(files({path("a")})), ElementsAre("a-cert.pub", "a"));
}

TEST_F(IdentitiesTest, RefusesWhatIsNoUsersCertificate) {
  make_key(directory_, "ca", kEd25519);
  make_key(directory_, "a", kEd25519);
  EXPECT_EQ(error(files({path("a")}, {path("gone")})), "CertificateFile: there is no file " + quoted("gone"));
  EXPECT_EQ(error(files({path("a")}, {path("a.pub")})),
            "CertificateFile: " + quoted("a.pub") + " is not a certificate");
  make_certificate(directory_, "ca", "a", {"-h"});
  EXPECT_THAT(names(files({path("a")})), ElementsAre("a"));
  EXPECT_THAT(identities_.warnings(),
              ElementsAre(quoted("a-cert.pub") + " is a certificate for hosts, not for users"));
}

TEST_F(IdentitiesTest, TakesAPublicKeyWhosePrivateHalfIsElsewhere) {
  make_key(directory_, "ca", kEd25519);
  make_key(directory_, "a", kEd25519);
  make_certificate(directory_, "ca", "a");
  make_key(directory_, "b", kEd25519);
  std::filesystem::remove(path("b"));
  EXPECT_THAT(names(files({path("a.pub")})), ElementsAre("a-cert.pub", "a"));
  EXPECT_THAT(names(files({path("a-cert.pub")})), ElementsAre("a-cert.pub", "a"));
  const IdentityList list = find(files({path("b.pub")}));
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0]->name, path("b.pub"));
  EXPECT_EQ(list[0]->public_blob, blob("b.pub"));
  EXPECT_FALSE(list[0]->key);
  EXPECT_EQ(list[0]->locked_file, "");
  EXPECT_THAT(names(files({path("b")})), ElementsAre("b-"));
}

TEST_F(IdentitiesTest, OffersAKeyOnceThoughItHasTwoNames) {
  make_key(directory_, "a", kEd25519);
  directory_.write("only.pub", directory_.read("a.pub"));
  EXPECT_THAT(names(files({path("only.pub"), path("a")})), ElementsAre("a"));
  EXPECT_THAT(names(files({path("a"), path("only.pub")})), ElementsAre("a"));
}

TEST_F(IdentitiesTest, OffersACertificateWhoseKeyIsInAnAgent) {
  make_key(directory_, "ca", kEd25519);
  make_key(directory_, "a", kEd25519);
  make_certificate(directory_, "ca", "a");
  std::filesystem::remove(path("a"));
  EXPECT_THAT(names(files({path("a")})), ElementsAre("a-cert.pub-", "a-"));
  EXPECT_EQ(find(files({path("a")}))[0]->public_blob, blob("a-cert.pub"));
}

TEST_F(IdentitiesTest, NamesANamedFileThatCannotBeUsed) {
  EXPECT_EQ(error(files({path("gone")})), "--identity: there is no file " + quoted("gone"));
  EXPECT_EQ(error(files({path(".ssh")})), "--identity: cannot read " + quoted(".ssh") + ": Is a directory");
  for (const char* text : {"", "garbage\n", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n",
                           "-----BEGIN OPENSSH PRIVATE KEY-----\n!\n-----END OPENSSH PRIVATE KEY-----\n",
                           "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"}) {
    Identities identities(directory_.path());
    std::filesystem::permissions(directory_.write("bad", text), std::filesystem::perms(0600));
    EXPECT_EQ(usage_error([&] { identities.find(files({path("bad")})); }),
              "--identity: " + quoted("bad") + " is not a usable private key");
  }
}

TEST_F(IdentitiesTest, SurvivesADamagedKey) {
  make_key(directory_, "a", kEd25519);
  const std::string text = directory_.read("a");
  constexpr std::size_t kPublicPart = 170;  // further on libssh 0.10 leaks some bytes
  for (std::size_t size = 0; size < text.size(); size += 3) {
    std::string damaged = text;
    if (size < kPublicPart) damaged[size] = damaged[size] == 'A' ? 'B' : 'A';
    for (const std::string& content : {text.substr(0, size), damaged}) {
      Identities identities(directory_.path());
      std::filesystem::permissions(directory_.write("bad", content), std::filesystem::perms(0600));
      const std::string said = usage_error([&] { identities.find(files({path("bad")})); });
      EXPECT_THAT(said, testing::AnyOf(HasSubstr("not a usable private key"), HasSubstr("is encrypted with"),
                                       "no error"));
    }
  }
}

TEST_F(IdentitiesTest, IgnoresADefaultFileThatCannotBeUsed) {
  directory_.write(".ssh/id_ecdsa", "garbage");
  make_key(directory_, ".ssh/id_ed25519", kEd25519);
  std::filesystem::permissions(path(".ssh/id_ed25519"), std::filesystem::perms(0640));
  make_key(directory_, ".ssh/id_rsa", {"rsa", "-b", "1024"});
  EXPECT_THAT(names(files({})), IsEmpty());
  EXPECT_THAT(names(files({})), IsEmpty());
  EXPECT_THAT(identities_.warnings(),
              ElementsAre("others can read " + quoted(".ssh/id_ed25519") + " (chmod 600 it)",
                          quoted(".ssh/id_ecdsa") + " is not a usable private key",
                          quoted(".ssh/id_rsa") + " is an RSA key of 1024 bits (servers want 2048 or more)"));
}

TEST_F(IdentitiesTest, RefusesANamedFileThatOthersCanRead) {
  make_key(directory_, "a", kEd25519);
  std::filesystem::permissions(path("a"), std::filesystem::perms(0604));
  EXPECT_EQ(error(files({path("a")})), "--identity: others can read " + quoted("a") + " (chmod 600 it)");
  EXPECT_THAT(names(files({path("a.pub")})), ElementsAre("a.pub-"));  // as anyone may know that
  EXPECT_THAT(identities_.warnings(), ElementsAre("others can read " + quoted("a") + " (chmod 600 it)"));
}

TEST_F(IdentitiesTest, IgnoresAWeakKeyThatIsNamed) {
  make_key(directory_, "a", {"rsa", "-b", "1024"});
  make_key(directory_, "b", kEd25519);
  EXPECT_THAT(names(files({path("a"), path("b")})), ElementsAre("b"));
  EXPECT_THAT(identities_.warnings(), ElementsAre(HasSubstr("is an RSA key of 1024 bits")));
  make_certificate(directory_, "b", "a");
  EXPECT_THAT(names(files({path("b")}, {path("a-cert.pub")})), ElementsAre("b"));
}

TEST_F(IdentitiesTest, RefusesACipherThatLibsshDoesNotKnow) {
  const std::string public_half = wire_string("ssh-ed25519") + wire_string(std::string(32, 'k'));
  write_binary_key("a", std::string("openssh-key-v1\0", 15) + wire_string("aes512-new") +
                            wire_string("bcrypt") + wire_string("") + wire_number(1) +
                            wire_string(public_half) + wire_string("the private half"));
  EXPECT_EQ(error(files({path("a")})),
            fmt::format("--identity: {0} is encrypted with aes512-new (ssh-keygen -p -Z aes256-ctr -f {0})",
                        quoted("a")));
}

TEST_F(IdentitiesTest, LeavesASecurityKeyToAnAgent) {
  const std::string public_half =
      wire_string("sk-ssh-ed25519@openssh.com") + wire_string(std::string(32, 'k')) + wire_string("ssh:");
  const std::string binary = std::string("openssh-key-v1\0", 15) + wire_string("none") + wire_string("none") +
                             wire_string("") + wire_number(1) + wire_string(public_half) +
                             wire_string("handle of the private half");
  write_binary_key("sk", binary);
  EXPECT_THAT(names(files({path("sk")})), ElementsAre("sk-"));
  EXPECT_EQ(find(files({path("sk")}))[0]->public_blob, public_half);
  EXPECT_THAT(
      identities_.warnings(),
      ElementsAre(fmt::format("{0} is a security key (FIDO): only an agent can sign with it (ssh-add {0})",
                              quoted("sk"))));
}

TEST_F(IdentitiesTest, NamesAFileItMayNotRead) {
  make_key(directory_, "a", kEd25519);
  std::filesystem::permissions(path("a"), std::filesystem::perms(0));
  constexpr uid_t kNobody = 65534;
  const uid_t user = ::geteuid();
  ASSERT_EQ(user == 0 ? ::seteuid(kNobody) : 0, 0);
  const std::string said = error(files({path("a")}));
  ASSERT_EQ(user == 0 ? ::seteuid(user) : 0, 0);
  EXPECT_EQ(said, "--identity: cannot read " + quoted("a") + ": Permission denied");
}

}  // namespace
}  // namespace podrun::ssh
