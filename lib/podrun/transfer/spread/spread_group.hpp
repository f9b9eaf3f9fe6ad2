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
#include "podrun/transfer/push_talk.hpp"
#include "podrun/transfer/spread/host_archive.hpp"
#include "podrun/transfer/spread/spread.hpp"
#include "podrun/transfer/spread/spread_plan.hpp"
#include "podrun/transfer/spread/spread_watch.hpp"

namespace podrun::transfer {

/// Hosts of a push that get equal archives and hand them on to each other (--spread, or files of a host):
/// tells the relays of the hosts (relay.py) what SpreadPlan decides, and feeds some of them. Each host gets
/// the SHA-256 of every block from here, and uses no block that differs.
class SpreadGroup : public std::enable_shared_from_this<SpreadGroup> {
 public:
  using TimePoint = SpreadPlan::TimePoint;

  struct Tell {
    std::function<void(std::size_t host)> arrived;  ///< it is known whether the host can take part
    std::function<void()> changed;                  ///< a host waits for serve(), or a digest is known
  };

  /// `hosts`: of the whole push. A HostArchive waits for serve().
  SpreadGroup(const asio::any_io_executor& executor, std::shared_ptr<Archive> archive, std::size_t hosts,
              const SpreadWatch::Limits& limits, Tell tell);

  /// Gives a host the archive and the trailer, after "stage … spread", or "stage … directly" if the share is
  /// not to be spread. The digest that it has staged. Throws HostError and LocalFileError. `share`: its
  /// progress, and where the archive comes from.
  asio::awaitable<std::string> stage(PushTalk& talk, std::size_t host, DigestKind digest, std::string trailer,
                                     SpreadShare& share);
  /// Talks with the host that has the files of a HostArchive, after serve.sh has started there, until leave()
  /// was called and no host needs it. Throws HostError. `may_listen`: other hosts may connect to it.
  asio::awaitable<void> serve(PushTalk& talk, std::size_t host, SpreadShare& share, bool may_listen);
  void leave();
  /// Whether hosts wait for serve().
  bool needs_server() const;
  const std::shared_ptr<Archive>& archive() const { return archive_; }

  /// podrun sends no more than others can still get from the first host until all are here and have a source,
  /// for 2.5 or 5 s at most.
  void hold_back(TimePoint last_arrival, bool are_all_here);

 private:
  struct Member;

  asio::awaitable<void> write(std::shared_ptr<Member> member);
  asio::awaitable<bool> write_frames(Member& member, std::string_view frames);
  asio::awaitable<bool> write_data(Member& member);
  asio::awaitable<void> attend(std::shared_ptr<Member> member, asio::awaitable<void> conversation);
  asio::awaitable<void> read(std::shared_ptr<Member> member);
  void forget(const std::shared_ptr<Member>& member);
  asio::awaitable<void> read_server(std::shared_ptr<Member> member);
  asio::awaitable<std::string> next_answer(Member& member);
  [[noreturn]] void fail_to_hand_on(const std::string& why) const;
  void take(Member& member, std::string_view answer);
  bool take_of_parent(Member& member, std::string_view what, std::string_view words, std::string_view answer);
  asio::awaitable<void> take_of_server(Member& member, std::string answer);
  void take_sum(std::string_view words, std::string_view answer);
  void greet(Member& member, std::string_view words);
  asio::awaitable<void> greet_server(Member& member, std::string_view words);
  void end_server();
  void feed(Member& member, std::uint64_t from, std::uint64_t to);
  std::string key_frame() const;
  std::string sums_for(Member& member);
  std::string end_for(Member& member);
  void learn_sums();

  Member* find(std::size_t host) const;
  void on(const SpreadEvent& event);
  void act(const action::Listen& listen);
  void act(const action::FromParent& from);
  void act(const action::FromHere& from);
  void act(const action::Direct& direct);
  void act(const action::Leave& leave);
  void act(const action::Drop& drop);
  void feed_from_here(std::size_t host);
  void order(std::size_t host, const std::string& frame);
  bool holds_back() const;
  void wake_fed();
  void set_timer();
  void allow_sums();
  void watch_soon();
  void watch();
  bool owes_as_server(const Member& member) const;
  SpreadWatch::Look look_at(const Member& member) const;
  void fail_as_silent(Member& member, SpreadWatch::Time allowance);

  const std::shared_ptr<Archive> archive_;
  HostArchive* const of_host_;  ///< the same; null for local files
  const Tell tell_;
  const Secret key_;
  const std::string id_;
  SpreadPlan plan_;
  SpreadWatch watch_;
  std::map<std::size_t, std::shared_ptr<Member>> members_ = {};  ///< that are being served, by host
  std::string sums_ = {};                                        ///< of the blocks that were read, in order
  std::weak_ptr<Member> server_ = {};                            ///< serve()
  bool may_leave_ = false;
  std::string deaf_because_ = {};  ///< why a host could not listen
  asio::steady_timer timer_;
  asio::steady_timer watch_timer_;
  TimePoint watched_at_{};
  std::uint64_t sums_end_ = 0;  ///< blocks whose sums the host that has the files may say
  TimePoint last_arrival_{};
  bool are_all_here_ = false;
  bool needs_sums_ = false;  ///< before a host is fed that needs them
};

}  // namespace podrun::transfer
