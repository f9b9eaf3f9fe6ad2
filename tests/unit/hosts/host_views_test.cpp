// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/host_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/host_name.hpp"

#include "support/fake_probe.hpp"

namespace podrun::hosts {
namespace {

using Texts = std::vector<std::string>;

/// A machine called tpu-0 with the address 10.0.0.1.
FakeProbe machine() {
  FakeProbe probe;
  probe.variables["HOME"] = "/home/me";
  probe.names = {"localhost", "127.0.0.1", "::1", "tpu-0", "10.0.0.1"};
  return probe;
}

HostQuery query(IncludeLocal include, Texts lists = {}) {
  HostQuery query;
  query.lists = std::move(lists);
  query.include_local = include;
  return query;
}

/// `worker host`, but `worker self` for this machine.
Texts workers(const Discovery& found) {
  Texts texts;
  for (const Host& host : found.hosts) {
    const bool is_self = host.kind == HostKind::local || host.name == "10.0.0.1";
    texts.push_back(std::to_string(host.worker) + " " + (is_self ? "self" : to_text(host)));
  }
  return texts;
}

/// The hosts that podrun finds when this file is the only source.
Discovery found_in(const std::string& file, IncludeLocal include) {
  FakeProbe probe = machine();
  probe.files["/home/me/podips.txt"] = file;
  return discover(query(include), probe);
}

TEST(SavedList, HasTheOthersWhereThisMachineIsWorkerZero) {
  const Discovery found =
      discover(query(IncludeLocal::no, {"10.0.0.1,me@a:2223,[2001:db8::1]:24,2001:db8::2"}), machine());
  const std::string file = saved_list(found.all, machine());
  EXPECT_EQ(file, "me@a:2223\n[2001:db8::1]:24\n2001:db8::2\n");
  EXPECT_EQ(workers(found_in(file, IncludeLocal::yes)), workers(found));
}

TEST(SavedList, HasAllWhereThisMachineIsAnother) {
  const Discovery found = discover(query(IncludeLocal::yes, {"a,10.0.0.1,b"}), machine());
  const std::string file = saved_list(found.all, machine());
  EXPECT_EQ(file, "a\n10.0.0.1\nb\n");
  EXPECT_EQ(workers(found_in(file, IncludeLocal::yes)), workers(found));
}

TEST(SavedList, SaysThatItCountsFromZeroWhereThisMachineIsNone) {
  const Discovery found = discover(query(IncludeLocal::no, {"a,b"}), machine());
  const std::string file = saved_list(found.all, machine());
  EXPECT_EQ(file, "# podrun: all hosts, the first is worker 0\na\nb\n");
  EXPECT_EQ(workers(found_in(file, IncludeLocal::no)), workers(found));
}

TEST(SavedList, KeepsTheListOfAPodipsFile) {
  for (const char* text :
       {"a\nb\n", "10.0.0.1\na\n", "a\n10.0.0.1\n", "# podrun: all hosts, the first is worker 0\na\n"}) {
    for (const IncludeLocal include : {IncludeLocal::no, IncludeLocal::yes}) {
      const Discovery found = found_in(text, include);
      EXPECT_EQ(workers(found_in(saved_list(found.all, machine()), include)), workers(found)) << text;
    }
  }
}

TEST(SavedList, MayMixNamesAndAddresses) {
  for (const char* list :
       {"a,10.0.0.8,b,10.0.0.9", "10.0.0.1,a,10.0.0.8,b,10.0.0.9", "a,10.0.0.1,b,10.0.0.9"}) {
    const Discovery found = discover(query(IncludeLocal::yes, {list}), machine());
    EXPECT_EQ(workers(found_in(saved_list(found.all, machine()), IncludeLocal::yes)), workers(found)) << list;
  }
}

TEST(SavedList, KeepsHostsThatLookLikeATable) {
  for (const char* list :
       {"LOGIN,node1", "NAME,10.0.0.8", "NAME,10.0.0.1,10.0.0.8", "READY,a", "10.0.0.1,READY,a",
        "10.0.0.1,POD,a", "a,a.zone", "10.0.0.1,a,a.zone", "1,2", "10.0.0.1,1,2"}) {
    HostQuery by_number = query(IncludeLocal::yes, {list});
    by_number.by_via = true;
    const Discovery found = discover(by_number, machine());
    FakeProbe probe = machine();
    probe.files["/home/me/podips.txt"] = saved_list(found.all, machine());
    by_number.lists.clear();
    const Discovery again = discover(by_number, probe);
    EXPECT_EQ(workers(again), workers(found)) << list;
    EXPECT_TRUE(again.notes.empty()) << list;
  }
}

TEST(SavedList, KnowsThisMachineAgainThatOnlyItsNumberTold) {
  FakeProbe probe = machine();
  for (const char* worker : {"0", "1"}) {
    probe.variables = {
        {"HOME", "/home/me"}, {"TPU_WORKER_HOSTNAMES", "w-0,w-1,w-2"}, {"TPU_WORKER_ID", worker}};
    for (const IncludeLocal include : {IncludeLocal::no, IncludeLocal::yes}) {
      const Discovery found = discover(query(include), probe);
      EXPECT_EQ(workers(found_in(saved_list(found.all, probe), include)), workers(found)) << worker;
    }
  }
}

TEST(SavedList, KeepsSeveralWorkersHere) {
  const Discovery found = discover(query(IncludeLocal::yes, {"local[0-2],a"}), machine());
  EXPECT_EQ(workers(found_in(saved_list(found.all, machine()), IncludeLocal::yes)), workers(found));
}

}  // namespace
}  // namespace podrun::hosts
