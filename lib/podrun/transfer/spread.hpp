// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/secret.hpp"
#include "podrun/transfer/archive.hpp"
#include "podrun/transfer/push.hpp"
#include "podrun/transfer/push_talk.hpp"
#include "podrun/transfer/spread_plan.hpp"

namespace podrun::transfer {

/// Hosts of a push that get equal archives and hand them on to each other (--spread): tells the relays of the
/// hosts (relay.py) what SpreadPlan decides, and feeds some of them. Each host gets the SHA-256 of every
/// block from here, and uses no block that differs.
class Spread : public std::enable_shared_from_this<Spread> {
 public:
  using TimePoint = SpreadPlan::TimePoint;

  /// Called when it is known whether a host can take part.
  using Arrive = std::function<void(std::size_t host)>;

  /// `hosts`: of the whole push.
  Spread(const asio::any_io_executor& executor, std::shared_ptr<Archive> archive, std::size_t hosts,
         Arrive arrive);

  /// Gives a host the archive and the trailer, after "stage … spread". The digest that it has staged. Throws
  /// HostError and LocalFileError. `share`: its progress, and where the archive comes from.
  asio::awaitable<std::string> stage(PushTalk& talk, std::size_t host, DigestKind digest, std::string trailer,
                                     HostShare& share);
  /// podrun sends no more than others can still get from the first host until all are here and have a source,
  /// for 2.5 or 5 s at most.
  void hold_back(TimePoint last_arrival, bool are_all_here);

 private:
  struct Member;
  class Presence;

  asio::awaitable<void> write(std::shared_ptr<Member> member);
  asio::awaitable<bool> write_data(Member& member);
  asio::awaitable<void> read(std::shared_ptr<Member> member);
  asio::awaitable<std::string> next_answer(Member& member);
  void take(Member& member, std::string_view answer);
  void greet(Member& member, std::string_view words);
  void feed(Member& member, std::uint64_t from, std::uint64_t to);
  std::string sums_for(Member& member);
  std::string end_for(Member& member);
  void learn_sums();
  asio::awaitable<void> finish_digest(DigestKind kind);

  Member* find(std::size_t host) const;
  void on(const SpreadEvent& event);
  void act(const action::Listen& listen);
  void act(const action::FromParent& from);
  void act(const action::FromHere& from);
  void act(const action::Direct& direct);
  void act(const action::Drop& drop);
  void feed_from_here(std::size_t host);
  void order(std::size_t host, const std::string& frame);
  bool holds_back() const;
  void wake_fed();
  void set_timer();

  const std::shared_ptr<Archive> archive_;
  const Arrive arrive_;
  const Secret key_;
  const std::string id_;
  SpreadPlan plan_;
  std::map<std::size_t, std::shared_ptr<Member>> members_ = {};  ///< that are being served, by host
  std::string sums_ = {};                                        ///< of the blocks that were read, in order
  asio::steady_timer timer_;
  TimePoint last_arrival_{};
  bool are_all_here_ = false;
  bool needs_sums_ = false;  ///< before a host is fed that needs them
};

}  // namespace podrun::transfer
