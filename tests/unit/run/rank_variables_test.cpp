// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/rank_variables.hpp"

#include <gtest/gtest.h>

namespace podrun::run {
namespace {

hosts::Host remote(const std::string& name) {
  hosts::Host host;
  host.name = name;
  return host;
}

hosts::Host here() {
  hosts::Host host = remote("local");
  host.kind = hosts::HostKind::local;
  return host;
}

supervisor::Hello hello(const std::string& client, const std::string& server) {
  return {"ready", client, server, ""};
}

const hosts::Host kLocal = here();
const hosts::Host kTpu7 = remote("tpu-7");
const hosts::Host kTpu8 = remote("tpu-8");
const supervisor::Hello kUnknown = hello("", "");
const supervisor::Hello kTold7 = hello("10.0.0.1", "10.0.0.7");
const supervisor::Hello kTold8 = hello("10.0.0.1", "10.0.0.8");

TEST(AddressOfRank0, IsItsOwnEndOfTheConnection) {
  EXPECT_EQ(address_of_rank0({{&kTpu7, &kTold7}, {&kTpu8, &kTold8}}), "10.0.0.7");
  EXPECT_EQ(address_of_rank0({{&kLocal, &kTold7}}), "10.0.0.7");
}

TEST(AddressOfRank0, IsTheNameInTheListWhereTheTransportDoesNotTell) {
  EXPECT_EQ(address_of_rank0({{&kTpu7, &kUnknown}, {&kTpu8, &kTold8}}), "tpu-7");
  EXPECT_EQ(address_of_rank0({{&kTpu7, nullptr}, {&kTpu8, &kTold8}}), "tpu-7");
}

TEST(AddressOfRank0, IsThisMachinesAsTheOthersSeeItWhenItIsRank0) {
  EXPECT_EQ(
      address_of_rank0({{&kLocal, &kUnknown}, {&kTpu7, &kUnknown}, {&kTpu7, nullptr}, {&kTpu8, &kTold8}}),
      "10.0.0.1");
}

TEST(AddressOfRank0, IsThisMachinesEndOfAConnectionRatherThanAHostsWord) {
  const Member told{&kTpu7, &kTold7};
  const Member known{&kTpu8, &kTold8, "10.0.0.3"};
  EXPECT_EQ(address_of_rank0({{&kLocal, &kUnknown}, told, known}), "10.0.0.3");
}

TEST(AddressOfRank0, IsTheLoopbackWhenAllHostsAreLocal) {
  EXPECT_EQ(address_of_rank0({{&kLocal, &kUnknown}, {&kLocal, &kUnknown}}), "127.0.0.1");
}

TEST(RankVariables, ListsTheHostsOfTheRun) {
  const supervisor::RankVariables variables = shared_variables({{&kTpu7, &kTold7}, {&kTpu8, nullptr}}, "id");
  EXPECT_EQ(variables.hosts, 2U);
  EXPECT_EQ(variables.host_list, "tpu-7\ntpu-8");
  EXPECT_EQ(variables.host0, "10.0.0.7");
  EXPECT_EQ(variables.addresses, "10.0.0.7\ntpu-8");
  EXPECT_EQ(variables.run_id, "id");
}

}  // namespace
}  // namespace podrun::run
