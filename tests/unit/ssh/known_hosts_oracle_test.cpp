// SPDX-License-Identifier: Apache-2.0
// Compares podrun with ssh-keygen on random known_hosts files, with few names so that many match.
#include <algorithm>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "podrun/ssh/host_keys/known_hosts.hpp"

#include "support/known_hosts_file.hpp"
#include "support/ssh_keygen.hpp"

namespace podrun::test {
namespace {

const Texts kNames = {"a", "b.c", "10.0.0.1", "[a]:2222", "[b.c]:22", "2001:db8::1", "[2001:db8::1]:2222"};

/// The output of ssh-keygen without its warnings.
std::string keygen(const Texts& words) {
  Texts all = {"sh", "-c", "exec ssh-keygen \"$@\" 2>/dev/null", "sh"};
  all.insert(all.end(), words.begin(), words.end());
  return run_words(all).output;
}

class RandomFile {
 public:
  explicit RandomFile(unsigned seed) : random_(seed) {}

  std::string text(bool single_names) {
    std::string result;
    const std::size_t lines = 1 + pick(12);
    for (std::size_t i = 0; i < lines; ++i) result += line(single_names) + '\n';
    return result;
  }

 private:
  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  std::string one_of(const Texts& texts) { return texts[pick(texts.size())]; }

  std::string names(bool single) {
    std::string list = one_of(kNames);
    if (pick(4) == 0) return hashed_name(list);
    if (single) return list;
    for (std::size_t more = pick(3); more > 0; --more) {
      list += ',' + (pick(2) == 0 ? one_of({"*", "!a", "*.c", "B.?", "[*]:2222", "!10.*", "?", "**a*", "x"})
                                  : one_of(kNames));
    }
    if (pick(4) == 0) std::transform(list.begin(), list.end(), list.begin(), ::toupper);
    return list;
  }
  std::string line(bool single_names) {
    const std::string key =
        key_words(test_key(static_cast<unsigned>(pick(3)), one_of({"ssh-ed25519", "ssh-rsa"})));
    switch (pick(10)) {
      case 0:
        return one_of({"", "# a " + key, "  ", "\t# b"});
      case 1:
        return one_of({"@revoked ", "@cert-authority "}) + names(single_names) + " " + key;
      default:
        return one_of({"", "", " ", "\t"}) + names(single_names) + one_of({" ", "\t", "  "}) + key +
               one_of({"", " comment of words", "\t#"});
    }
  }

  std::mt19937 random_;
};

/// The numbers of the lines, of those without a marker.
std::vector<std::size_t> found_by_keygen(const std::string& path, const std::string& name) {
  std::vector<std::size_t> lines;
  std::istringstream output(keygen({"-F", name, "-f", path}));
  const std::string start = "# Host " + name + " found: line ";
  for (std::string line; std::getline(output, line);) {
    if (!line.starts_with(start)) continue;
    std::istringstream rest(line.substr(start.size()));
    std::size_t number = 0;
    std::string marker;
    rest >> number >> marker;
    if (marker.empty()) lines.push_back(number);
  }
  return lines;
}

std::vector<std::size_t> found_by_us(const ssh::KnownHostsFile& file, const std::string& name) {
  std::vector<std::size_t> lines;
  for (const ssh::KnownKey& key : file.plain_keys_of(name)) lines.push_back(key.line);
  for (const ssh::KnownKey& key : file.hashed_keys_of(name)) lines.push_back(key.line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(KnownHostsOracle, FindsTheSameLines) {
  const TempDirectory directory;
  std::size_t found = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const std::string text = RandomFile(seed).text(false);
    const std::string path = directory.write("known_hosts", text);
    const ssh::KnownHostsFile file(text, path);
    EXPECT_EQ(file.bad_lines(), 0U) << text;
    for (const std::string& name : kNames) {
      const auto lines = found_by_us(file, name);
      EXPECT_EQ(lines, found_by_keygen(path, name)) << name << " in\n" << text;
      found += lines.size();
    }
  }
  EXPECT_GT(found, 200U);
}

TEST(KnownHostsOracle, ForgetsTheSameLines) {
  const TempDirectory directory;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const std::string text = RandomFile(seed).text(true);
    const std::string path = directory.write("known_hosts", text);
    keygen({"-R", "a", "-f", path});
    keygen({"-R", "[2001:db8::1]:2222", "-f", path});
    const ssh::ForgottenKeys ours = ssh::forget_keys(text, {{"a", 22}, {"2001:DB8::1", 2222}});
    EXPECT_EQ(ours.text, directory.read("known_hosts")) << text;
    EXPECT_EQ(ours.removed == 0, ours.text == text);
  }
}

TEST(KnownHostsOracle, ForgettingChangesNothingForOthers) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string text = RandomFile(seed).text(false);
    const ssh::KnownHosts before({std::make_shared<ssh::KnownHostsFile>(text, "f")});
    const ssh::ForgottenKeys forgotten = ssh::forget_keys(text, {{"a", 22}, {"a", 2222}});
    const auto file = std::make_shared<ssh::KnownHostsFile>(forgotten.text, "f");
    const ssh::KnownHosts after({file});
    for (unsigned number = 0; number < 3; ++number) {
      const ssh::HostKey key = test_key(number);
      EXPECT_EQ(after.check("b.c", 22, key).verdict, before.check("b.c", 22, key).verdict) << text;
      EXPECT_EQ(after.check("2001:db8::1", 2222, key).verdict, before.check("2001:db8::1", 2222, key).verdict)
          << text;
    }
    EXPECT_TRUE(file->hashed_keys_of("a").empty()) << text;
    EXPECT_EQ(ssh::forget_keys(forgotten.text, {{"a", 22}, {"a", 2222}}).removed, 0U) << text;
  }
}

TEST(KnownHostsOracle, ReadsWhatKeygenHashes) {
  const TempDirectory directory;
  const std::string path = directory.write("known_hosts", "A,[b.c]:2222 " + key_words(test_key(1)) +
                                                              "\n10.0.0.* " + key_words(test_key(2)) + "\n");
  keygen({"-H", "-f", path});
  const std::string text = directory.read("known_hosts");
  ASSERT_EQ(text.find("b.c"), std::string::npos);
  const ssh::KnownHosts hosts({std::make_shared<ssh::KnownHostsFile>(text, path)});
  EXPECT_EQ(hosts.check("a", 22, test_key(1)).verdict, ssh::KeyVerdict::known);
  EXPECT_EQ(hosts.check("B.C", 2222, test_key(1)).verdict, ssh::KeyVerdict::known);
  EXPECT_EQ(hosts.check("b.c", 2222, test_key(3)).verdict, ssh::KeyVerdict::changed);
  EXPECT_EQ(hosts.check("b.c", 22, test_key(1)).verdict, ssh::KeyVerdict::unknown);
  EXPECT_EQ(hosts.check("10.0.0.9", 22, test_key(2)).verdict, ssh::KeyVerdict::known);
}

TEST(KnownHostsOracle, WritesWhatKeygenReads) {
  const TempDirectory directory;
  ssh::KnownHostsFile file("", "f");
  std::string text;
  for (const ssh::NameForm form : {ssh::NameForm::plain, ssh::NameForm::hashed}) {
    text += file.add(ssh::known_hosts_name("Tpu-1", 22), test_key(1), form);
    text += file.add(ssh::known_hosts_name("2001:DB8::1", 2222), test_key(2), form);
  }
  const std::string path = directory.write("known_hosts", text);
  EXPECT_EQ(found_by_keygen(path, "tpu-1"), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(found_by_keygen(path, "[2001:db8::1]:2222"), (std::vector<std::size_t>{2, 4}));
}

TEST(HostKey, HasTheFingerprintThatKeygenPrints) {
  const TempDirectory directory;
  for (const Texts& type : {Texts{"ed25519"}, Texts{"ecdsa", "-b", "256"}, Texts{"ecdsa", "-b", "384"},
                            Texts{"ecdsa", "-b", "521"}, Texts{"rsa", "-b", "2048"}}) {
    const std::string path = make_key(directory, type.back() + "_key", type) + ".pub";
    std::istringstream words(directory.read(type.back() + "_key.pub"));
    std::string name;
    std::string base64;
    words >> name >> base64;
    const auto key = ssh::read_host_key(base64);
    ASSERT_TRUE(key) << name;
    EXPECT_EQ(key->type, name);
    EXPECT_EQ(to_base64(key->blob), base64);
    EXPECT_NE(keygen({"-lf", path}).find(" " + ssh::fingerprint(*key) + " "), std::string::npos) << name;
  }
}

TEST(HostKey, IsWholeOrNone) {
  const std::string whole = to_base64(test_key(1, "ssh-rsa").blob);
  EXPECT_TRUE(ssh::read_host_key(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(ssh::read_host_key(whole.substr(0, size))) << size;
  EXPECT_FALSE(ssh::read_host_key(to_base64(test_key(1).blob + "x")));
  EXPECT_FALSE(ssh::read_host_key(to_base64(ssh::wire_string("ssh-unheard-of") + ssh::wire_string("x"))));
  for (const char* not_base64 : {"====", "AA=A", "AB==", "A A=", "AAA-", "\nAAA", "AAA\xff"}) {
    EXPECT_FALSE(from_base64(not_base64)) << not_base64;
  }
}

}  // namespace
}  // namespace podrun::test
