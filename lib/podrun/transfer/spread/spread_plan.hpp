// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "podrun/run/run_policy.hpp"

// The decisions of a push whose hosts hand the archive on to each other (--spread), without their effects.
// podrun feeds a few hosts, the seeds; the others get the archive from a host, their parent.
namespace podrun::transfer {

struct SpreadLimits {
  std::size_t width = 16;              ///< children of a host, beyond those that it had when podrun feeds it
  std::uint64_t window = 32ULL << 20;  ///< bytes that a parent keeps for its children
  std::chrono::milliseconds collect{300};  ///< losses in this time are handled together
  std::chrono::milliseconds join{2500};    ///< how long a host tries to join a parent
  std::size_t most_seeds = 3;              ///< hosts that podrun feeds and that have children
};

/// Events. `host` is an index into the hosts of the group.
namespace event {
/// The host can begin. It may come again after Gone: another attempt.
struct SpreadReady {
  std::size_t host;
  std::string address;     ///< its own, as others reach it
  bool can_relay;          ///< false: no python3 with ssl, or the address is not known
  bool has_files = false;  ///< it has everything, and serves any part of it
};
/// The host listens for the children of the last Listen.
using Port = run::OfHost<struct PortOfHost>;
/// The host cannot listen.
using Deaf = run::OfHost<struct DeafOfHost>;
/// The host's parent has accepted it.
using Joined = run::OfHost<struct JoinedOfHost>;
/// The host has so many bytes; it may have more.
struct At {
  std::size_t host;
  std::uint64_t offset;
};
/// The host has no parent any more. It has exactly `offset` bytes, and waits for FromParent or FromHere.
struct LostParent {
  std::size_t host;
  std::uint64_t offset;
  bool never_joined;
};
/// The parent has given the child up.
struct Dropped {
  std::size_t parent;
  std::size_t child;  ///< as the parent says: any number
  bool was_slow;      ///< it held up the others; else its connection has ended, which it reports itself
};
/// The parent of the host has what the host lacks, or cannot have it any more, and does not send it.
using Stalled = run::OfHost<struct StalledOfHost>;
/// The host itself holds up its children.
using Slow = run::OfHost<struct SlowOfHost>;
/// Its connection or its push has failed.
using Gone = run::OfHost<struct GoneOfHost>;
/// The host and its children have everything, and its relay has ended.
using Done = run::OfHost<struct DoneOfHost>;
/// The time of next_tick() has come.
struct SpreadTick {};
}  // namespace event
using SpreadEvent =
    std::variant<event::SpreadReady, event::Port, event::Deaf, event::Joined, event::At, event::LostParent,
                 event::Dropped, event::Stalled, event::Slow, event::Gone, event::Done, event::SpreadTick>;

/// Actions.
namespace action {
/// Expect these children too. Port, Deaf or Gone answers; until then no other Listen follows.
struct Listen {
  std::size_t host;
  std::vector<std::size_t> children;
};
/// Go on from this parent, at its last port.
struct FromParent {
  std::size_t host;
  std::size_t parent;
};
/// podrun sends the rest to the host's relay.
struct FromHere {
  std::size_t host;
  std::uint64_t offset;
};
/// podrun sends everything, without a relay. The host gets no other action before or after it.
using Direct = run::OfHost<struct DirectOfHost>;
/// Leave the parent. LostParent answers, unless the host has everything or itself holds up what it gets.
using Leave = run::OfHost<struct LeaveOfHost>;
/// Stop serving the child, if it is served or expected.
struct Drop {
  std::size_t parent;
  std::size_t child;
};
}  // namespace action
using SpreadAction = std::variant<action::Listen, action::FromParent, action::FromHere, action::Direct,
                                  action::Leave, action::Drop>;

enum class HereReason : std::uint8_t {
  none,           ///< it comes from a host, or from nowhere yet
  seed,           ///< the first one
  cannot_relay,   ///< see SpreadReady::can_relay
  too_late,       ///< no host that may serve it has the beginning
  nothing_works,  ///< no host could reach another
  unreachable,    ///< it could not join SpreadSource::lost
  too_slow,       ///< it held up others
  lost_parent     ///< SpreadSource::lost, after it had joined that
};
/// Where a host got the archive from, or the end of it.
struct SpreadSource {
  std::optional<std::size_t> parent = std::nullopt;
  HereReason reason = HereReason::none;
  std::optional<std::size_t> lost = std::nullopt;  ///< the parent it had, or could not reach, before podrun
};

/// How a host and its source stand, as far as podrun knows.
struct SpreadStanding {
  enum class Parent : std::uint8_t {
    none,
    waits,  ///< has no more than the host
    is_ahead,
    has_all,
    is_over,  ///< it has ended, or is to be left
  };
  Parent parent = Parent::none;
  std::uint64_t offset = 0;
  std::uint64_t changes = 0;   ///< differs after each new source or loss
  bool serves_others = false;  ///< that lack something
};

/// Decides which host gets the archive from which one. Pure. Every host that is ready gets everything, or is
/// gone, if relays answer: a child with FromParent says Joined, and LostParent as soon as it has lost it.
class SpreadPlan {
 public:
  using TimePoint = run::TimePoint;
  enum class First { podrun, host };
  static constexpr std::size_t kMostParents = 3;  ///< a host that has lost so many is itself to blame

  /// `first`: whether podrun has the files; otherwise all hosts wait for the one that has.
  SpreadPlan(std::size_t hosts, std::uint64_t size, First first = First::podrun,
             const SpreadLimits& limits = {})
      : limits_(limits), size_(size), hosts_(hosts), waits_for_files_(first == First::host) {}

  std::vector<SpreadAction> on(const SpreadEvent& event, TimePoint now);
  /// Whether every host that is ready has a source, and has joined it if that is a host.
  bool is_settled() const;
  /// When the next SpreadTick is due.
  std::optional<TimePoint> next_tick() const;
  const SpreadSource& source(std::size_t host) const { return hosts_[host].source; }
  SpreadStanding standing(std::size_t host) const;

 private:
  /// seeking: needs a parent; queued: has one, which is not asked yet; asked: it is asked to listen; joining:
  /// was told its parent; leaving: will say LostParent, since its parent is gone or was told to drop it;
  /// lost: has said so, and others may follow; here, direct: gets the rest or everything from podrun.
  enum class State {
    absent,
    seeking,
    queued,
    asked,
    joining,
    joined,
    leaving,
    lost,
    here,
    direct,
    done,
    gone
  };
  struct Host {
    State state = State::absent;
    std::string address = {};
    std::uint64_t offset = 0;
    std::optional<std::size_t> parent = std::nullopt;  ///< if and only if queued, asked, joining or joined
    std::optional<std::size_t> lost = std::nullopt;    ///< the last parent that it was told
    std::size_t children = 0;                          ///< hosts whose `parent` it is
    std::size_t most_children = 0;
    std::size_t parents = 0;                             ///< that it was told
    TimePoint since = {};                                ///< seeking
    std::optional<TimePoint> port_until = std::nullopt;  ///< Listen is not answered
    bool is_seed = false;                                ///< podrun feeds it, and it has been given a child
    bool is_leaf = false;                                ///< it gets no more children
    bool is_slow = false;
    bool has_files = false;
    bool has_served = false;
    bool blames = false;        ///< `lost` may be at fault
    bool never_joined = false;  ///< `lost`
    bool moves = false;         ///< `lost` was told to drop it
    SpreadSource source = {};
  };

  void handle(const event::SpreadReady& ready);
  void handle(const event::Port& port);
  void handle(const event::Deaf& deaf);
  void handle(const event::Joined& joined);
  void handle(const event::At& at);
  void handle(const event::LostParent& lost);
  void handle(const event::Dropped& dropped);
  void handle(const event::Stalled& stalled);
  void handle(const event::Slow& slow);
  void handle(const event::Gone& gone);
  void handle(const event::Done& done);
  void handle(const event::SpreadTick&) {}

  void decide();
  void settle();
  void blame_parent(const Host& host);
  void place();
  void ask_to_listen();
  std::optional<std::size_t> parent_for(std::size_t host) const;
  bool can_serve(const Host& parent) const;
  bool is_near(const Host& parent, const Host& host) const;
  bool has_hope(const Host& host) const;
  void feed_stuck(std::size_t host);
  static HereReason reason_of(const Host& host);  ///< that has lost a parent
  void feed(std::size_t host, HereReason reason);
  void feed_directly(std::size_t host, HereReason reason);
  void seek(Host& host);
  void attach(std::size_t host, std::size_t parent);
  void detach(Host& host);
  void drop(std::size_t host);
  void begin_with(std::size_t host, bool can_relay);
  void close(std::size_t host);
  void release(std::size_t host);
  /// The first losses are collected, and no host has joined another: there may be no use in trying.
  bool is_in_doubt() const { return collect_until_ && !has_worked_; }
  TimePoint::duration patience() const { return 2 * limits_.join; }  ///< relays may have to start first
  static bool is_over(const Host& host) { return host.state == State::done || host.state == State::gone; }
  static bool was_told(const Host& host) {
    return host.state == State::joining || host.state == State::joined;
  }

  const SpreadLimits limits_;
  const std::uint64_t size_;
  TimePoint now_{};
  std::vector<Host> hosts_;
  std::vector<SpreadAction> actions_ = {};
  std::optional<TimePoint> collect_until_ = std::nullopt;  ///< set while a host is lost
  std::size_t seeds_ = 0;                                  ///< hosts that are or were Host::is_seed
  bool has_worked_ = false;                                ///< a host has joined another
  bool has_given_up_ = false;                              ///< nobody gets a parent any more
  bool waits_for_files_;                                   ///< the host that has them is not ready
};

}  // namespace podrun::transfer
