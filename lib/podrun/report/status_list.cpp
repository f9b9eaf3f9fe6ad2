// SPDX-License-Identifier: Apache-2.0
// The list of hosts that Enter prints: one line for those that do the same for about as long.
#include <algorithm>
#include <array>
#include <chrono>
#include <compare>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/report/host_status_words.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/report/status_line_words.hpp"

namespace podrun::report {
namespace {

using run::HostStatus;
using run::Status;
using run::TimePoint;
using State = run::RunPolicy::State;
using std::chrono::seconds;

/// Hosts whose silences lie between two of these times are listed together.
constexpr std::array kAges = {seconds(5), seconds(15), seconds(60), seconds(300), seconds(3600)};

/// A host's activity, and the words between it and its duration; empty if the duration says nothing.
struct Doing {
  std::string what;
  std::string before_time;

  friend auto operator<=>(const Doing&, const Doing&) = default;
};

Doing describe(const Status& status, const HostStatus& host, TimePoint now) {
  if (host.state == State::stopping)
    return {"stopping, " + describe_kill(host.kill_at, now), ", silent for "};
  if (host.reading_paused) return {"running, output paused (its reader is slow)", ""};
  const std::string attempt = describe_attempt(status, host.attempt);
  switch (host.state) {
    case State::waiting:
      return {"waiting for " + (host.attempt > 1 ? attempt : "its turn"), ""};
    case State::connecting:
      return {host.attempt > 1 ? fmt::format("{}, {}", attempt, words(host.stage))
                               : std::string(words(host.stage)),
              " for "};
    case State::ready:
      return {"ready, waiting for the others", " for "};
    case State::running:
      return {"running", ", silent for "};
    case State::lingering:
      return {"command ended, output open", ", silent for "};
    default:
      return {"ended, its output is still open", " for "};
  }
}

struct ActiveAlike {
  std::vector<const HostStatus*> hosts;
  seconds shortest = seconds::max();
  seconds longest{0};
};

std::string describe(const Doing& doing, const ActiveAlike& group) {
  if (doing.before_time.empty() || group.longest == seconds(0)) return doing.what;
  std::string time = format_age(group.longest);
  if (group.shortest != group.longest) {
    time = group.shortest == seconds(0) ? "up to " + time
                                        : fmt::format("{} to {}", format_age(group.shortest), time);
  }
  return doing.what + doing.before_time + time;
}

/// Numbers the hosts of a group that runs well; names hosts that others may have to wait for.
std::string describe(const ActiveAlike& group) {
  const State state = group.hosts.front()->state;
  const bool runs_well = state == State::ready || state == State::running ||
                         (state == State::waiting && group.hosts.front()->attempt == 1);
  std::vector<std::size_t> workers;
  std::vector<std::string> names;
  for (const HostStatus* host : group.hosts) {
    workers.push_back(host->host->worker);
    names.push_back(label_and_name(*host));
  }
  if (names.size() > 1 && (runs_well || names.size() > kNamed))
    return fmt::format("[{}]", fold_workers(std::move(workers)));
  return join(names, ", ") + ':';
}

}  // namespace

seconds age(const HostStatus& host, TimePoint now) {
  return std::chrono::duration_cast<seconds>(std::max(now - host.since, TimePoint::duration::zero()));
}

std::string format_age(seconds age) {
  if (age < std::chrono::minutes(2)) return fmt::format("{} s", age.count());
  if (age < std::chrono::hours(2)) return fmt::format("{} min", age / std::chrono::minutes(1));
  return fmt::format("{} h", age / std::chrono::hours(1));
}

std::string describe_attempt(const Status& status, std::size_t attempt) {
  return status.attempts == 0 ? fmt::format("attempt {}", attempt)
                              : fmt::format("attempt {} of {}", attempt, status.attempts);
}

std::string label_and_name(const HostStatus& host) {
  return fmt::format("[{}] {}", host.host->worker, output::escape_controls(host.host->name));
}

std::vector<std::string> status_list(const Status& status, TimePoint now) {
  std::vector<const HostStatus*> left;
  for (const HostStatus& host : status.hosts) {
    if (host.state != State::done) left.push_back(&host);
  }
  if (left.empty()) return {"podrun: every host has ended"};
  std::map<std::tuple<State, Doing, std::ptrdiff_t>, ActiveAlike> groups;
  for (const HostStatus* host : left) {
    const seconds its_age = age(*host, now);
    const std::ptrdiff_t step = std::upper_bound(kAges.begin(), kAges.end(), its_age) - kAges.begin();
    ActiveAlike& group = groups[{host->state, describe(status, *host, now), step}];
    group.hosts.push_back(host);
    group.shortest = std::min(group.shortest, its_age);
    group.longest = std::max(group.longest, its_age);
  }
  std::vector<std::string> lines;
  for (const auto& [key, group] : groups)
    lines.push_back(fmt::format("podrun: {} {}", describe(group), describe(std::get<1>(key), group)));
  return lines;
}

}  // namespace podrun::report
