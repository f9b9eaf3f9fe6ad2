// SPDX-License-Identifier: Apache-2.0
// Tells which hosts are behind or silent although the common lines of the others go on.
#include "podrun/output/dedup/stragglers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/long_duration.hpp"
#include "podrun/base/lower_median.hpp"
#include "podrun/output/label.hpp"

namespace podrun::output {
namespace {

using namespace std::chrono_literals;

constexpr auto kCheck = 1s;      ///< so that several hosts are said in one line
constexpr auto kBehind = 3s;     ///< lines late for shorter are those of a slow start
constexpr auto kCaughtUp = 15s;  ///< without a late line
constexpr auto kSilent = 60s;
constexpr auto kMuchLonger = 3;  ///< times as long as half of the hosts

/// `4.2 s`, `40 ms`
std::string describe(Stragglers::Clock::duration lag) {
  const double seconds = std::chrono::duration<double>(lag).count();
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1000) : fmt::format("{:.1f} s", seconds);
}

}  // namespace

void Stragglers::printed(TimePoint now, std::size_t host) {
  hosts_[host].last = now;
  if (begun_) return;
  begun_ = now;
  next_check_ = now + kCheck;
}

void Stragglers::was_late(TimePoint now, std::size_t host, Clock::duration lag) {
  HostPace& state = hosts_[host];
  if (!state.late_since) state.late_since = now;
  state.last_late = now;
  state.lag = lag;
  ++state.late_lines;
  state.worst_lag = std::max(state.worst_lag, lag);
}

std::string Stragglers::late_lines(const std::vector<hosts::Host>& hosts) const {
  Clock::duration worst{};
  for (const HostPace& host : hosts_) worst = std::max(worst, host.worst_lag);
  std::string text;
  for (const bool far_behind : {true, false}) {
    std::vector<std::size_t> late;
    std::size_t lines = 0;
    Clock::duration lag{};
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      const HostPace& state = hosts_[host];
      if (state.late_lines == 0 || (state.worst_lag >= worst / 4) != far_behind) continue;
      late.push_back(host);
      lines += state.late_lines;
      lag = std::max(lag, state.worst_lag);
    }
    if (late.empty()) continue;
    text += fmt::format("{}{} {} line{}, up to {} behind", text.empty() ? "" : "; ", fold_hosts(hosts, late),
                        lines, lines == 1 ? "" : "s", describe(lag));
  }
  return text;
}

std::vector<Stragglers::Remark> Stragglers::take_remarks(TimePoint now) {
  std::vector<Remark> remarks;
  if (now < next_check_) return remarks;
  next_check_ = now + kCheck;
  find_behind(now, remarks);
  find_silent(now, remarks);
  std::erase_if(remarks, [](const Remark& remark) { return remark.hosts.empty(); });
  return remarks;
}

void Stragglers::find_behind(TimePoint now, std::vector<Remark>& remarks) {
  Remark behind{.kind = Remark::Kind::is_behind, .hosts = {}};
  Remark caught_up{.kind = Remark::Kind::caught_up, .hosts = {}};
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    HostPace& state = hosts_[host];
    if (!state.last_late || !state.runs) continue;
    if (!state.is_behind && state.late_since && *state.last_late - *state.late_since >= kBehind) {
      state.is_behind = true;
      behind.hosts.push_back(host);
      behind.time = std::max(behind.time, state.lag);
    } else if (state.is_behind && now - *state.last_late >= kCaughtUp && *state.last > *state.last_late) {
      state.is_behind = false;
      caught_up.hosts.push_back(host);
    }
  }
  remarks.push_back(std::move(behind));
  remarks.push_back(std::move(caught_up));
}

void Stragglers::find_silent(TimePoint now, std::vector<Remark>& remarks) {
  std::vector<Clock::duration> silences;
  for (const HostPace& state : hosts_) {
    if (state.runs) silences.push_back(silence_of(state, now));
  }
  if (silences.empty()) return;
  const Clock::duration usual = lower_median(std::move(silences));
  const Clock::duration long_silence = std::max<Clock::duration>(kSilent, kMuchLonger * usual);
  Remark silent{.kind = Remark::Kind::is_silent, .hosts = {}};
  Remark again{.kind = Remark::Kind::prints_again, .hosts = {}};
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    HostPace& state = hosts_[host];
    if (!state.runs) continue;
    const Clock::duration silence = silence_of(state, now);
    if (!state.silence && silence >= long_silence) {
      state.silence = silence;
      silent.hosts.push_back(host);
      silent.time = std::max(silent.time, silence);
    } else if (state.silence && silence < *state.silence) {
      state.silence.reset();
      again.hosts.push_back(host);
    }
  }
  remarks.push_back(std::move(silent));
  remarks.push_back(std::move(again));
}

std::string say(const Stragglers::Remark& remark, const std::string& hosts) {
  const bool one = remark.hosts.size() == 1;
  switch (remark.kind) {
    case Stragglers::Remark::Kind::is_behind:
      return fmt::format("{} {} {} behind: {} equal lines are not shown", hosts, one ? "is" : "are",
                         describe(remark.time), one ? "its" : "their");
    case Stragglers::Remark::Kind::caught_up:
      return fmt::format("{} {} caught up", hosts, one ? "has" : "have");
    case Stragglers::Remark::Kind::is_silent:
      return fmt::format("{} {} printed nothing for {}", hosts, one ? "has" : "have",
                         long_duration(std::chrono::duration_cast<std::chrono::seconds>(remark.time)));
    case Stragglers::Remark::Kind::prints_again:
      return fmt::format("{} {} again", hosts, one ? "prints" : "print");
  }
  return hosts;
}

}  // namespace podrun::output
