// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/text.hpp"
#include "podrun/transfer/push.hpp"

namespace podrun::transfer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

HostTransfer host(std::size_t worker, report::FilesSent sent, bool has_attributes = false) {
  return {worker, sent, has_attributes};
}

std::string describe(const std::vector<HostTransfer>& hosts, std::size_t ignored = 0,
                     Tense tense = Tense::did) {
  return describe_transfers(hosts, ignored, tense, ", ");
}

TEST(PushWords, SayWhatWentToHowManyHosts) {
  EXPECT_EQ(describe({host(0, {3, 1'234'567, 0, {}}), host(1, {3, 1'234'567, 0, {}})}),
            "3 files (1.2 MB) to 2 hosts");
  EXPECT_EQ(describe({host(0, {1, 5, 0, {}})}), "1 file (5 B) to 1 host");
  EXPECT_EQ(describe({host(0, {1, 5, 0, {}})}, 0, Tense::would), "1 file (5 B) would go to 1 host");
  EXPECT_EQ(describe({host(0, {1, 5, 2, {}})}, 0, Tense::would),
            "1 file (5 B) would go to 1 host, 2 would be deleted");
}

TEST(PushWords, CountHostsThatNeedNothing) {
  EXPECT_EQ(describe({host(0, {}), host(1, {})}), "2 hosts are up to date");
  EXPECT_EQ(describe({host(0, {}), host(1, {2, 10, 0, {}})}),
            "2 files (10 B) to 1 host, 1 host is up to date");
}

TEST(PushWords, SayWhoGotItFromWhom) {
  const auto from = [](std::size_t worker) {
    report::FilesSent sent{1, 10, 0, {}};
    sent.from = worker;
    return sent;
  };
  const auto from_here = [](const std::string& why) {
    report::FilesSent sent{1, 10, 0, {}};
    sent.from_here = why;
    return sent;
  };
  EXPECT_EQ(describe({host(0, {1, 10, 0, {}}), host(1, from(0)), host(2, from(0))}),
            "1 file (10 B) to 3 hosts, 2 from each other");
  EXPECT_EQ(
      describe({host(0, {1, 10, 0, {}}), host(1, from(0)), host(2, from_here("came too late")),
                host(3, from_here("lost [0]: timed out")), host(4, from_here("came too late"))}),
      "1 file (10 B) to 5 hosts, 1 from each other, 3 from here ([2,4] came too late; [3] lost [0]: timed "
      "out)");
}

TEST(PushWords, EstimateWhatSpreadingWouldSave) {
  using std::chrono::seconds;
  const std::chrono::steady_clock::time_point begin{seconds(1000)};
  const auto share = [&](std::uint64_t sent, std::uint64_t total) {
    HostShare host;
    host.began = begin;
    host.sent = sent;
    host.total = total;
    return host;
  };
  // 80 of 1,600 in 5 s; one copy of the rest is 95, all are 1,520.
  EXPECT_EQ(saved_by_spreading(std::vector(16, share(5, 100)), begin + seconds(5)), seconds(89));
  EXPECT_EQ(saved_by_spreading(std::vector(16, share(5, 100)), begin + seconds(2)), seconds(0));
  EXPECT_EQ(saved_by_spreading({share(5, 100)}, begin + seconds(5)), seconds(0));
  // A single slow host is no reason.
  EXPECT_EQ(saved_by_spreading({share(100, 100), share(1, 100)}, begin + seconds(100)), seconds(0));
  EXPECT_EQ(saved_by_spreading({HostShare{}, HostShare{}}, begin + seconds(5)), seconds(0));
}

TEST(PushWords, SayUpToWhereHostsDiffer) {
  EXPECT_EQ(describe({host(0, {1, 10, 0, {}}), host(1, {2, 30, 0, {}})}), "up to 2 files (30 B) to 2 hosts");
}

TEST(PushWords, CountWhatWasDeletedSharedAndIgnored) {
  EXPECT_EQ(describe({host(0, {1, 10, 2, {}}), host(1, {1, 10, 2, 0})}, 4),
            "1 file (10 B) to 2 hosts, 1 host on a shared file system, 2 deleted, 4 paths ignored");
  EXPECT_EQ(describe({host(0, {}, true)}, 1), "0 files (0 B) to 1 host, 1 path ignored");
}

TEST(PushWords, CountLinksThatDirectoriesReplace) {
  EXPECT_EQ(describe({host(0, {1, 10, 0, {}, 1}), host(1, {1, 10, 0, {}})}),
            "1 file (10 B) to 2 hosts, 1 link replaced by a directory (podrun push --keep-dir-links keeps "
            "links to directories)");
  EXPECT_EQ(describe({host(0, {0, 0, 0, {}, 2})}, 0, Tense::would),
            "0 files (0 B) would go to 1 host, 2 links would be replaced by directories (podrun push "
            "--keep-dir-links keeps links to directories)");
}

TEST(PushWords, ListLinksThatDirectoriesReplace) {
  std::vector<hosts::Host> hosts(1);
  hosts.front().name = "tpu";
  EXPECT_THAT(list_transfers(hosts, {{0, {"a/", "a/b"}, {}, {"a"}}}),
              ElementsAre("[0] tpu:", "  replace link a", "  send a/", "  send a/b"));
}

TEST(PushWords, ListWhatHostsWouldGetOnceForAllThatGetTheSame) {
  std::vector<hosts::Host> hosts(3);
  for (std::size_t worker = 0; worker < hosts.size(); ++worker) {
    hosts[worker].worker = worker;
    hosts[worker].name = "tpu";
  }
  EXPECT_THAT(
      list_transfers(hosts, {{0, {"a/", "a/b\x1b"}, {"old"}}, {1, {}, {}}, {2, {"a/", "a/b\x1b"}, {"old"}}}),
      ElementsAre("[0,2]:", "  send a/", "  send a/b\\x1b", "  delete old"));
  EXPECT_THAT(list_transfers(hosts, {{1, {}, {}}}), IsEmpty());
}

TEST(BytesText, HasTwoDigitsOrMore) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1500), "1.5 kB");
  EXPECT_EQ(format_bytes(999'600), "1.0 MB");
  EXPECT_EQ(format_bytes(20'000'000'000), "20 GB");
}

}  // namespace
}  // namespace podrun::transfer
