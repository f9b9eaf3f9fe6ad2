// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/host_keys/key_blob.hpp"

#include <gtest/gtest.h>

namespace podrun::ssh {
namespace {

using namespace std::string_literals;

std::string text(const std::optional<std::string>& bytes) { return bytes.value_or("none"); }

TEST(WireReader, ReadsValuesAndRemembersMissingBytes) {
  const std::string bytes = "\x07\0\0\1\2"s + wire_string("ab") + wire_string("");
  WireReader reader(bytes);
  EXPECT_EQ(reader.byte(), 7);
  EXPECT_EQ(reader.number(), 258U);
  EXPECT_EQ(reader.string(), "ab");
  EXPECT_FALSE(reader.complete());
  EXPECT_EQ(reader.string(), "");
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.number(), 0U);
  EXPECT_FALSE(reader.ok());

  const std::string cut = "\0\0\0\5abcd"s;
  WireReader short_string(cut);
  EXPECT_EQ(short_string.string(), "");
  EXPECT_EQ(short_string.byte(), 0);
  EXPECT_FALSE(short_string.ok());
  const std::string size = "\xff\xff\xff\xff"s;
  WireReader huge(size);
  huge.string();
  EXPECT_FALSE(huge.ok());
}

const std::string kEd25519 = wire_string("ssh-ed25519") + wire_string(std::string(32, 'k'));

TEST(PublicKey, IsReadFromItsLine) {
  const std::string line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtra2tra2tra2tra2tra2tra2tra2tra2tra2tra2tr";
  EXPECT_EQ(text(read_public_key(line)), kEd25519);
  EXPECT_EQ(text(read_public_key("# mine\r\n\n \t" + line + " me@here\nmore\n")), kEd25519);
  EXPECT_EQ(text(read_public_key("ssh-rsa" + line.substr(11))), "none");
  EXPECT_EQ(text(read_public_key("ssh-ed25519 !")), "none");
  EXPECT_EQ(text(read_public_key("ssh-ed25519")), "none");
  EXPECT_EQ(text(read_public_key("# only\n")), "none");
  EXPECT_EQ(text(read_public_key("")), "none");
}

std::string certificate(const std::string& type, const std::string& fields, std::uint32_t kind) {
  return wire_string(type) + wire_string("nonce") + fields + std::string(8, '\0') + wire_number(kind) +
         "more";
}

TEST(Certificate, NamesItsKey) {
  const std::string fields = wire_string("nistp256") + wire_string("point");
  const std::string user = certificate("ecdsa-sha2-nistp256-cert-v01@openssh.com", fields, 1);
  EXPECT_TRUE(is_certificate(user));
  EXPECT_TRUE(is_user_certificate(user));
  EXPECT_EQ(plain_key(user), wire_string("ecdsa-sha2-nistp256") + fields);
  EXPECT_FALSE(is_user_certificate(certificate("ecdsa-sha2-nistp256-cert-v01@openssh.com", fields, 2)));

  const std::string of_security_key = wire_string("point") + wire_string("ssh:");
  EXPECT_EQ(plain_key(certificate("sk-ssh-ed25519-cert-v01@openssh.com", of_security_key, 1)),
            wire_string("sk-ssh-ed25519@openssh.com") + of_security_key);

  EXPECT_FALSE(is_certificate(kEd25519));
  EXPECT_FALSE(is_user_certificate(kEd25519));
  EXPECT_EQ(plain_key(kEd25519), kEd25519);
  EXPECT_EQ(plain_key(kEd25519.substr(0, kEd25519.size() - 1)), "");
  EXPECT_EQ(plain_key(wire_string("ssh-new")), "");
  EXPECT_EQ(plain_key(""), "");
}

TEST(KeyBlob, KnowsItsType) {
  EXPECT_EQ(key_type(kEd25519), "ssh-ed25519");
  EXPECT_EQ(key_type("\0\0"s), "");
  EXPECT_TRUE(is_security_key(wire_string("sk-ssh-ed25519@openssh.com")));
  EXPECT_FALSE(is_security_key(kEd25519));
}

TEST(KeyBlob, CountsTheBitsOfAnRsaKey) {
  const auto rsa = [](const std::string& modulus) {
    return wire_string("ssh-rsa") + wire_string("\1\0\1"s) + wire_string(modulus);
  };
  EXPECT_EQ(rsa_bits(rsa("\0\x80"s + std::string(255, 'x'))), 2048U);
  EXPECT_EQ(rsa_bits(rsa("\x7f"s + std::string(255, 'x'))), 2047U);
  EXPECT_EQ(rsa_bits(rsa("")), 0U);
  EXPECT_EQ(rsa_bits(certificate("ssh-rsa-cert-v01@openssh.com",
                                 wire_string("\3") + wire_string("\0\xff\xff"s), 1)),
            16U);
  EXPECT_EQ(rsa_bits(kEd25519), std::nullopt);
}

}  // namespace
}  // namespace podrun::ssh
