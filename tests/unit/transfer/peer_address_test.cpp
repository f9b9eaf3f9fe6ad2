// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/spread/peer_address.hpp"

#include <gtest/gtest.h>

namespace podrun::transfer {
namespace {

TEST(PeerAddress, IsTheOneThatPodrunReaches) {
  for (const char* address :
       {"10.1.2.3", "203.0.113.7", "2600:1900::7", "fd00::7", "127.0.0.4", "169.254.3.4"})
    EXPECT_EQ(peer_address(address, Reached{address}), address);
}

TEST(PeerAddress, IsNotAnotherMachineThatTheHostNames) {
  for (const char* claimed : {"10.1.2.9", "192.168.1.1", "127.0.0.1", "127.0.0.9", "::1", "169.254.169.254",
                              "203.0.113.7", "0.0.0.0", "224.0.0.1", "255.255.255.255", "fe80::1%eth0",
                              "::ffff:127.0.0.1", "::ffff:10.1.2.9", "64:ff9b::7f00:1", "localhost", "-", ""})
    EXPECT_EQ(peer_address(claimed, Reached{"10.1.2.3"}), "10.1.2.3") << claimed;
  EXPECT_EQ(peer_address("198.51.100.9", Reached{"203.0.113.7"}), "203.0.113.7");
  EXPECT_EQ(peer_address("127.0.0.1", Reached{"127.0.0.4"}), "127.0.0.4");
  EXPECT_EQ(peer_address("10.1.2.3", Reached{"127.0.0.4"}), "127.0.0.4");
  EXPECT_EQ(peer_address("10.1.2.3", Reached{"169.254.3.4"}), "169.254.3.4");
}

TEST(PeerAddress, IsThePrivateOneOfAHostBehindNat) {
  for (const char* claimed : {"10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "fd00::7"})
    EXPECT_EQ(peer_address(claimed, Reached{"203.0.113.7"}), claimed);
  EXPECT_EQ(peer_address("172.32.0.1", Reached{"203.0.113.7"}), "203.0.113.7");
  EXPECT_EQ(peer_address("100.128.0.1", Reached{"203.0.113.7"}), "203.0.113.7");
}

TEST(PeerAddress, IsThePrivateOneOfAHostBehindAPortOfAGateway) {
  const Reached gateway{"10.0.0.1", true};
  EXPECT_EQ(peer_address("10.1.2.3", gateway), "10.1.2.3");
  for (const char* claimed : {"203.0.113.7", "127.0.0.1", "169.254.169.254", "-"})
    EXPECT_EQ(peer_address(claimed, gateway), "10.0.0.1");
}

TEST(PeerAddress, IsWhatTheHostSaysWhereAPortLeadsToIt) {
  for (const char* reached : {"127.0.0.1", "::1"}) {
    EXPECT_EQ(peer_address("10.1.2.3", Reached{reached}), "10.1.2.3");
    EXPECT_EQ(peer_address("203.0.113.7", Reached{reached}), "203.0.113.7");
    EXPECT_EQ(peer_address("127.0.0.9", Reached{reached}), reached);
    EXPECT_EQ(peer_address("169.254.169.254", Reached{reached}), reached);
  }
}

TEST(PeerAddress, IsNeverLoopbackOrLinkLocalWhereOnlyTheHostKnowsIt) {
  EXPECT_EQ(peer_address("10.1.2.3", Reached{""}), "10.1.2.3");
  EXPECT_EQ(peer_address("203.0.113.7", Reached{""}), "203.0.113.7");
  EXPECT_EQ(peer_address("2600:1900::7", Reached{""}), "2600:1900::7");
  EXPECT_EQ(peer_address("::ffff:10.1.2.3", Reached{""}), "10.1.2.3");
  for (const char* claimed :
       {"127.0.0.1", "127.9.9.9", "::1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "0.0.0.0", "0.1.2.3",
        "::", "ff02::1", "239.1.2.3", "240.0.0.1", "255.255.255.255", "::ffff:127.0.0.1", "::127.0.0.1",
        "64:ff9b::7f00:1", "-", "host", "10.1.2.3 22"})
    EXPECT_EQ(peer_address(claimed, Reached{""}), "") << claimed;
}

TEST(PeerAddress, IsUnknownOnALinkLocalAddressWithAZone) {
  EXPECT_EQ(peer_address("fe80::2%eth0", Reached{"fe80::1%eth0"}), "");
}

}  // namespace
}  // namespace podrun::transfer
