// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/top/figures.hpp"
#include "podrun/top/frames.hpp"

// What podrun knows of all hosts, and which of them are odd. Pure: the time is passed in.
namespace podrun::top {

using run::TimePoint;

/// A share of the hosts: if at least this many have a thing, a host without it is odd.
inline constexpr double kNearlyAll = 0.8;

enum class Severity { like_others = 0, difference = 1, warning = 2, fault = 3 };

/// Why a host is odd.
struct Odd {
  std::string what;  ///< an identifier for --json
  Severity severity = Severity::difference;
  std::optional<std::size_t> device = {};  ///< the chip
  std::string text = {};                   ///< for people; parts of it may come from the host
  TimePoint since = {};
  std::optional<TimePoint> until = {};  ///< its cause has gone, but it is still shown
};

/// waiting: it has not answered yet; stale: no frame for a while.
enum class Presence { waiting, up, stale, lost };
std::string_view word_of(Presence state);

/// The last failure of a host's connection, and what follows.
struct Trouble {
  link::Failure failure;
  std::size_t attempt = 0;  ///< the next one; 0: none follows
  std::optional<TimePoint> retry_at = {};
};

struct HostRow {
  HostReport report = {};
  Presence state = Presence::waiting;
  TimePoint since = {};  ///< of the state
  std::optional<TimePoint> frame_at = {};
  std::optional<Trouble> trouble = {};
  std::optional<double> clock_offset = {};  ///< seconds that its clock is ahead of ours
  Figures figures = {};
  std::vector<Odd> odd = {};        ///< the most severe first, then the oldest
  std::set<std::string> runs = {};  ///< the jobs and runs there
  std::string run = {};             ///< the one that most hosts have too; empty: none
  double runs_at = -1;              ///< of the list of processes that they are from
  TimePoint runs_since = {};        ///< when they last changed

  bool is_new = false;                             ///< judge() has not seen the last frame
  std::array<unsigned, kFigures> deviations = {};  ///< a bit for each of the last frames, the last one lowest
  std::map<std::size_t, std::uint64_t> first_ecc = {};
  std::optional<TimePoint> oom_at = {};
  std::optional<TimePoint> swapped_at = {};
  std::optional<TimePoint> back_at = {};
  std::optional<TimePoint> rebooted_at = {};
  std::chrono::seconds was_lost{0};

  bool has_figures() const { return state == Presence::up && frame_at; }
  Severity severity() const;
  /// The beginning of the oldest of its most severe oddities.
  TimePoint odd_since() const;
};

/// Hosts that can be compared: of the same accelerators and the same run.
struct Peers {
  std::vector<std::size_t> hosts;
  std::array<std::optional<double>, kFigures> medians = {};
  std::array<double, kFigures> limits = {};  ///< farther from the median is odd
};

/// What most hosts have; a host without it is odd.
struct Usual {
  bool is_bus_used = false;  ///< some host can use all GPUs of its PCI bus: no containers with a part of them
  std::string accelerator = {};                                    ///< its name
  std::optional<std::size_t> accelerators = {};                    ///< those that the host can use
  std::map<std::string, std::optional<std::uint64_t>> links = {};  ///< those that are up, and their speed
  std::set<std::string> writable = {};                             ///< paths of file systems
};

class Pod {
 public:
  /// `is_once`: one frame decides.
  Pod(std::vector<hosts::Host> hosts, bool is_once);

  const std::vector<hosts::Host>& hosts() const { return hosts_; }
  const std::vector<HostRow>& rows() const { return rows_; }
  HostReport& report(std::size_t host) { return rows_[host].report; }

  /// The report has a new frame. `clock`: seconds since 1970 here when the host answered; none: that is not
  /// known.
  void add_frame(std::size_t host, TimePoint now, std::optional<double> clock);
  /// The chips of the report are newer than its frame.
  void update_chips(std::size_t host);
  /// No connection, since `trouble`.
  void lose(std::size_t host, Trouble trouble, TimePoint now);
  /// podrun itself was suspended: silence until now says nothing.
  void resume(TimePoint now);

  /// Finds out which hosts are stale and odd.
  void judge(TimePoint now, std::chrono::milliseconds interval);

  /// Since the last judge():
  const std::optional<Extremes>& extremes(Figure figure) const {
    return extremes_[static_cast<std::size_t>(figure)];
  }
  /// Of each interval, the latest last; of at most kHistory.
  const std::deque<std::array<std::optional<Extremes>, kFigures>>& history() const { return history_; }
  static constexpr std::size_t kHistory = 192;
  const std::vector<Peers>& peers() const { return peers_; }
  const Peers* peers_of(std::size_t host) const;
  std::size_t count(Presence state) const;
  std::size_t odd_hosts() const;
  /// The job or run of most hosts; empty: none.
  const std::string& run() const { return run_; }
  /// How long its processes with accelerators have been there.
  std::optional<std::chrono::seconds> run_age() const;
  /// How many hosts are in this run.
  std::size_t hosts_in_run() const { return hosts_in_run_; }
  /// The user who has accelerators of most hosts.
  std::optional<std::uint64_t> main_user() const { return main_user_; }
  /// When the run was first seen on most hosts.
  TimePoint run_since() const { return run_since_; }
  bool is_once() const { return is_once_; }
  const Usual& usual() const { return usual_; }

 private:
  void find_states(TimePoint now, std::chrono::milliseconds interval);
  void find_runs(TimePoint now);
  void find_main_user();
  void find_usual();
  void find_peers();
  void find_deviations();
  void find_extremes(TimePoint now, std::chrono::milliseconds interval);
  void merge(HostRow& row, std::vector<Odd> found, TimePoint now) const;

  const std::vector<hosts::Host> hosts_;
  const bool is_once_;
  std::vector<HostRow> rows_;
  std::array<std::optional<Extremes>, kFigures> extremes_ = {};
  std::deque<std::array<std::optional<Extremes>, kFigures>> history_ = {};
  TimePoint history_at_ = {};
  std::vector<Peers> peers_;
  std::vector<std::size_t> peers_of_;  ///< of each host; none: past the end
  std::string run_;
  std::size_t hosts_in_run_ = 0;
  TimePoint run_since_ = {};
  std::optional<std::uint64_t> main_user_;
  Usual usual_;
};

/// GPUs and TPU chips of a host.
std::size_t chip_count(const HostReport& report);
/// How many accelerators the host can use: not those that a driver does not show.
std::size_t usable_accelerators(const HostReport& report);
/// The accelerators of a host: `8 × H100`; empty: none.
std::string accelerators_of(const HostReport& report);
/// `H100`, `TPU v5p`.
std::string accelerator_name(const HostReport& report);
/// Whether a link carries data.
bool is_up(const NetworkLink& link);

}  // namespace podrun::top
