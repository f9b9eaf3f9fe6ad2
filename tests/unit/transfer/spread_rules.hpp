// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "podrun/transfer/spread/spread_plan.hpp"

#include "unit/transfer/spread_pod.hpp"

namespace podrun::test {

/// What podrun has told the hosts, and has heard from them.
class SpreadRules {
 public:
  SpreadRules(const SpreadPod& pod, const transfer::SpreadLimits& limits)
      : pod_(pod), limits_(limits), told_(pod.hosts.size()) {}

  void hear(const transfer::SpreadEvent& event) {
    std::visit([this](const auto& what) { note(what); }, event);
  }
  void obey(const transfer::SpreadAction& action) {
    std::visit([this](const auto& what) { check(what); }, action);
  }
  std::size_t streams() const { return streams_; }
  std::size_t losses() const { return losses_; }
  std::size_t most_parents() const { return most_parents_; }
  Clock::time_point last_stream_at() const { return last_stream_at_; }
  /// Streams that no loss explains.
  std::size_t first_streams() const { return first_streams_; }

 private:
  struct Told {
    bool is_ready = false;
    bool is_over = false;
    bool is_fed = false;                               ///< by podrun
    std::optional<std::size_t> parent = std::nullopt;  ///< until LostParent
    std::size_t parents = 0;
    std::set<std::size_t> listens = {};  ///< for these, which were not told yet
    bool is_asked = false;
    bool is_slow = false;
    bool is_dropped = false;  ///< by podrun
    bool has_failed = false;  ///< to join a second parent
    std::optional<std::size_t> last_parent = std::nullopt;
    std::uint64_t offset = 0;  ///< as podrun knows it
  };

  void note(const transfer::event::SpreadReady& ready) {
    if (told_[ready.host].is_ready && !told_[ready.host].is_over) return;
    told_[ready.host] = {.is_ready = true};
  }
  void note(const transfer::event::At& at) {
    if (!told_[at.host].is_over) told_[at.host].offset = std::max(told_[at.host].offset, at.offset);
  }
  void note(const transfer::event::Slow& slow) { told_[slow.host].is_slow = !told_[slow.host].is_over; }
  void note(const transfer::event::Dropped& dropped) {
    if (dropped.child < told_.size() && told_[dropped.child].parent == dropped.parent)
      told_[dropped.child].is_slow = dropped.was_slow;
  }
  void note(const transfer::event::LostParent& lost) {
    Told& host = told_[lost.host];
    if (host.parent) {
      ++losses_;
      host.offset = lost.offset;
      host.has_failed = lost.never_joined && host.parents > 1 && !host.is_dropped && host.parent != kGone;
    }
    told_[lost.host].parent.reset();
  }
  void note(const transfer::event::Port& port) { told_[port.host].is_asked = false; }
  void note(const transfer::event::Deaf& deaf) { told_[deaf.host].is_asked = false; }
  void note(const transfer::event::Gone& gone) {
    end(gone.host);
    for (Told& told : told_) {
      if (told.parent == gone.host) told.parent = kGone;
    }
  }
  void note(const transfer::event::Done& done) { end(done.host); }
  template <typename Other>
  void note(const Other&) {}
  void end(std::size_t host) {
    if (told_[host].is_ready) told_[host].is_over = true;
    told_[host].parent.reset();
  }

  void check(const transfer::action::Listen& listen) {
    Told& host = told_[listen.host];
    EXPECT_TRUE(host.is_fed || host.parent) << "a parent without data";
    EXPECT_TRUE(host.is_ready && !host.is_over);
    EXPECT_FALSE(host.is_asked) << "two questions at a time";
    EXPECT_FALSE(listen.children.empty());
    EXPECT_FALSE(host.is_slow);
    host.is_asked = true;
    host.listens.insert(listen.children.begin(), listen.children.end());
    if (host.is_fed) seeds_.insert(listen.host);
    EXPECT_LE(seeds_.size(), limits_.most_seeds);
    for (const std::size_t child : listen.children) check_pair(told_[child], host, child, listen.host);
  }
  void check_pair(const Told& child, const Told& parent, std::size_t child_number,
                  std::size_t parent_number) {
    EXPECT_NE(pod_.hosts[child_number].address, pod_.hosts[parent_number].address);
    EXPECT_NE(child.last_parent, parent_number) << "it has just lost that one";
    EXPECT_FALSE(child.is_slow || child.has_failed) << "podrun should feed it";
    EXPECT_LE(child.offset, parent.offset + limits_.window) << "it would wait for long";
  }
  void check(const transfer::action::FromParent& from) {
    Told& child = told_[from.host];
    EXPECT_TRUE(child.is_ready && !child.is_over);
    EXPECT_FALSE(child.is_fed || child.parent) << "two sources";
    EXPECT_TRUE(told_[from.parent].is_ready && !told_[from.parent].is_over);
    EXPECT_EQ(told_[from.parent].listens.erase(from.host), 1U);
    child.parent = child.last_parent = from.parent;
    child.is_dropped = false;
    ++child.parents;
    most_parents_ = std::max(most_parents_, child.parents);
    EXPECT_LE(child.parents, 8U) << "it goes from one to the next";
    EXPECT_LE(depth_of(from.host) + height_of(from.host), 2U) << "levels, or a circle";
    EXPECT_LE(children_of(from.parent).size(), 2 * limits_.width);
  }
  void check(const transfer::action::FromHere& from) {
    Told& host = told_[from.host];
    EXPECT_FALSE(host.is_fed || host.parent) << "two sources";
    first_streams_ += host.parents == 0 ? 1 : 0;
    feed(host);
  }
  void check(const transfer::action::Direct& direct) {
    EXPECT_EQ(told_[direct.host].parents, 0U);
    EXPECT_FALSE(told_[direct.host].is_fed);
    ++first_streams_;
    feed(told_[direct.host]);
  }
  void check(const transfer::action::Leave& leave) { EXPECT_FALSE(told_[leave.host].is_fed); }
  void check(const transfer::action::Drop& drop) {
    EXPECT_FALSE(told_[drop.parent].is_over);
    EXPECT_EQ(told_[drop.child].last_parent, drop.parent);
    told_[drop.child].is_dropped = true;
  }
  void feed(Told& host) {
    EXPECT_TRUE(host.is_ready && !host.is_over);
    host.is_fed = true;
    ++streams_;
    last_stream_at_ = pod_.now;
  }

  std::vector<std::size_t> children_of(std::size_t parent) const {
    std::vector<std::size_t> children;
    for (std::size_t host = 0; host < told_.size(); ++host) {
      if (told_[host].parent == parent && !told_[host].is_over) children.push_back(host);
    }
    return children;
  }
  std::size_t depth_of(std::size_t host) const {
    std::size_t depth = 0;
    for (; told_[host].parent && told_[host].parent != kGone && depth < 9; ++depth)
      host = *told_[host].parent;
    return depth;
  }
  std::size_t height_of(std::size_t host, std::size_t most = 9) const {
    std::size_t height = 0;
    if (most == 0) return 0;
    for (const std::size_t child : children_of(host))
      height = std::max(height, 1 + height_of(child, most - 1));
    return height;
  }

  static constexpr std::size_t kGone = ~std::size_t{0};
  const SpreadPod& pod_;
  const transfer::SpreadLimits& limits_;
  std::vector<Told> told_;
  std::set<std::size_t> seeds_;
  std::size_t streams_ = 0;
  std::size_t first_streams_ = 0;
  std::size_t losses_ = 0;
  std::size_t most_parents_ = 0;
  Clock::time_point last_stream_at_{};
};

}  // namespace podrun::test
