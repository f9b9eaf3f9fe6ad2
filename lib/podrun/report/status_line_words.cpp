// SPDX-License-Identifier: Apache-2.0
// The words of the status line, and the replies to signals.
#include "podrun/report/status_line_words.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/report/host_status_words.hpp"
#include "podrun/report/silence.hpp"

namespace podrun::report {
namespace {

using run::HostStatus;
using run::Status;
using run::TimePoint;
using State = run::RunPolicy::State;
using std::chrono::seconds;

/// A host that connects for this long is named.
constexpr seconds kSlow{5};
/// The silence of all hosts is reported after this long.
constexpr seconds kAllSilent{10};
/// The most characters for worker numbers in the status line.
constexpr std::size_t kWorkers = 24;
/// While no more hosts than this run, and fewer than half of all, the line says which.
constexpr std::size_t kFew = 2;

std::string format_rate(std::uint64_t bytes_per_second) { return format_bytes(bytes_per_second) + "/s"; }

/// The work on a host before it is ready; empty if there is none now.
std::string_view preparation(const HostStatus& host) {
  return host.state == State::connecting && host.stage.own() ? host.stage.own()->doing : "";
}

std::string short_workers(std::vector<std::size_t> workers) {
  const std::string folded = fold_workers(std::move(workers));
  if (folded.size() <= kWorkers) return fmt::format("[{}]", folded);
  return fmt::format("[{},...]", folded.substr(0, folded.rfind(',', kWorkers)));
}

/// The host that is silent for much longer than half of the others; else the silence of all.
std::optional<output::StatusPart> silence(const Status& status, TimePoint now) {
  std::vector<std::pair<seconds, std::size_t>> silent;
  for (const HostStatus& host : status.hosts) {
    if (host.state == State::running && !host.reading_paused)
      silent.emplace_back(age(host, now), host.host->worker);
  }
  if (silent.empty()) return std::nullopt;
  std::sort(silent.begin(), silent.end());
  const seconds usual = silent[(silent.size() - 1) / 2].first;
  const auto& [longest, worker] = silent.back();
  if (silent.size() > 1 && is_slow(longest, usual)) {
    return output::StatusPart{fmt::format("slowest [{}] silent {}", worker, format_age(longest))};
  }
  const seconds shortest = silent.front().first;
  if (shortest < kAllSilent) return std::nullopt;
  return output::StatusPart{fmt::format("silent {}", format_age(shortest))};
}

std::vector<std::size_t> workers_in(const Status& status, State state) {
  std::vector<std::size_t> workers;
  for (const HostStatus& host : status.hosts) {
    if (host.state == state) workers.push_back(host.host->worker);
  }
  return workers;
}

/// The hosts that are tried again, or whose first attempt takes long.
std::vector<const HostStatus*> slow_to_connect(const Status& status, TimePoint now) {
  std::vector<const HostStatus*> slow;
  for (const HostStatus& host : status.hosts) {
    const bool tried_again = host.state == State::waiting && host.attempt > 1;
    const bool connecting = host.state == State::connecting && preparation(host).empty() &&
                            (host.attempt > 1 || now - host.tried_since >= kSlow);
    if (tried_again || connecting) slow.push_back(&host);
  }
  return slow;
}

/// `[7] tpu-7: attempt 2 of 3, 14 s` for each of them, or one part for many: `[0-63] attempt 2 of 3, up to 14
/// s`.
output::StatusText attempts(const Status& status, const std::vector<const HostStatus*>& slow, TimePoint now) {
  const auto tried_for = [now](const HostStatus& host) {
    return std::chrono::duration_cast<seconds>(std::max(now - host.tried_since, TimePoint::duration::zero()));
  };
  output::StatusText text;
  std::vector<std::size_t> workers;
  std::size_t last = 0;
  seconds longest{0};
  for (const HostStatus* host : slow) {
    text.push_back({fmt::format("{}: {}, {}", label_and_name(*host), describe_attempt(status, host->attempt),
                                format_age(tried_for(*host)))});
    workers.push_back(host->host->worker);
    last = std::max(last, host->attempt);
    longest = std::max(longest, tried_for(*host));
  }
  if (slow.size() <= kNamed) return text;
  return {{fmt::format("{} {}, up to {}", short_workers(std::move(workers)), describe_attempt(status, last),
                       format_age(longest))}};
}

bool is_any_tried_again(const Status& status) {
  return std::any_of(status.hosts.begin(), status.hosts.end(),
                     [](const HostStatus& host) { return host.state == State::waiting && host.attempt > 1; });
}

std::optional<TimePoint> first_kill(const Status& status) {
  std::optional<TimePoint> first;
  for (const HostStatus& host : status.hosts) {
    if (host.state == State::stopping && (!first || (host.kill_at && *host.kill_at < *first)))
      first = host.kill_at;
  }
  return first;
}

/// The words for what podrun waits for, and for the effect of the next Ctrl-C.
std::optional<output::StatusPart> what_comes_next(const Status& status, TimePoint now) {
  const auto in = [&](State state) {
    return std::any_of(status.hosts.begin(), status.hosts.end(),
                       [&](const HostStatus& host) { return host.state == state; });
  };
  if (in(State::running) || in(State::lingering)) {
    if (status.presses == 0) return std::nullopt;
    return output::StatusPart{
        fmt::format("interrupted (Ctrl-C again: TERM, and KILL after {})", format_duration(status.grace)),
        "interrupted"};
  }
  if (!in(State::stopping)) return std::nullopt;
  const std::string kill = describe_kill(first_kill(status), now);
  return output::StatusPart{
      fmt::format("{} (Ctrl-C{}: exit at once)", kill, status.presses < 2 ? " twice" : ""), kill};
}

enum class Unready { numbered, counted };

/// The hosts by what they do.
struct Counts {
  std::map<State, std::size_t> in;  ///< without those that failed or are prepared
  std::map<std::string_view, std::size_t> prepared;
  std::vector<std::size_t> failed;  ///< worker numbers
};

Counts count(const Status& status) {
  Counts counts;
  for (const HostStatus& host : status.hosts) {
    const State state = host.state == State::closing ? State::done : host.state;
    if (host.failed) counts.failed.push_back(host.host->worker);
    if (const std::string_view work = preparation(host); !work.empty()) {
      ++counts.prepared[work];
      continue;
    }
    if (!host.failed || state == State::lingering) ++counts.in[state];
  }
  return counts;
}

output::StatusText describe_counts(const Status& status, Unready unready) {
  Counts counts = count(status);
  output::StatusText text;
  const auto add = [&](State state, std::string_view word) {
    if (counts.in[state] > 0) text.push_back({fmt::format("{} {}", counts.in[state], word)});
  };
  const auto add_named = [&](State state, std::string_view word) {
    add(state, word);
    if (counts.in[state] == 0) return;
    output::StatusPart& part = text.back();
    part.shorter = part.text;
    part.text += ' ' + short_workers(workers_in(status, state));
  };
  const auto add_either = [&](bool is_named, State state, std::string_view word) {
    is_named ? add_named(state, word) : add(state, word);
  };
  const bool numbers = unready == Unready::numbered;
  add_either(numbers && counts.in[State::connecting] < counts.in[State::ready], State::connecting,
             "connecting");
  for (const auto& [work, hosts] : counts.prepared) text.push_back({fmt::format("{} {}", hosts, work)});
  add(State::ready, "ready");
  const std::size_t running = counts.in[State::running];
  const bool few_run = running <= kFew && 2 * running < status.hosts.size();
  add_either(status.presses > 0 || few_run, State::running, "running");
  add_named(State::lingering, "command ended, output open");
  add_named(State::stopping, "stopping");
  if (text.empty() && counts.in[State::waiting] == 0) return {};
  add(State::done, "done");
  if (!counts.failed.empty()) {
    const std::string number = fmt::format("{} failed", counts.failed.size());
    text.push_back({fmt::format("{} {}", number, short_workers(std::move(counts.failed))), number});
  }
  const bool others_wait = counts.in[State::waiting] < counts.in[State::ready] && is_any_tried_again(status);
  add_either(numbers && others_wait, State::waiting, "waiting");
  return text;
}

/// `1.2 of 3.4 GB`, `120 MB/s`, `slowest [7] 34 % from [3]`, `12 s left`
output::StatusText describe(const run::TransferStatus& transfer, std::uint64_t bytes_per_second) {
  output::StatusText text;
  if (transfer.total == 0 || transfer.done >= transfer.total) return text;
  text.push_back({fmt::format("{} of {}", format_bytes(transfer.done), format_bytes(transfer.total))});
  if (bytes_per_second > 0) text.push_back({format_rate(bytes_per_second)});
  if (transfer.slowest) {
    const std::optional<std::size_t>& source = transfer.slowest_source;
    text.push_back({fmt::format("slowest [{}] {} %{}", *transfer.slowest, transfer.slowest_percent,
                                source ? fmt::format(" from [{}]", *source) : "")});
  }
  if (transfer.left) {
    text.push_back({fmt::format("{} left", format_age(*transfer.left))});
  } else if (bytes_per_second > 0 && transfer.is_total_known) {
    const auto left = static_cast<seconds::rep>((transfer.total - transfer.done) / bytes_per_second);
    text.push_back({fmt::format("{} left", format_age(seconds(left + 1)))});
  }
  if (!transfer.hint.empty()) text.push_back({std::string(transfer.hint), std::string(transfer.short_hint)});
  return text;
}

}  // namespace

std::string describe_kill(std::optional<TimePoint> kill_at, TimePoint now) {
  if (!kill_at || *kill_at <= now) return "KILL due";
  return fmt::format("KILL in {}", format_age(std::chrono::ceil<seconds>(*kill_at - now)));
}

output::StatusText status_counts(const Status& status) {
  output::StatusText text = describe_counts(status, Unready::numbered);
  if (status.transfer) {
    for (output::StatusPart& part : describe(*status.transfer, 0)) text.push_back(std::move(part));
  }
  return text;
}

output::StatusText status_text(const Status& status, std::uint64_t bytes_per_second, TimePoint now) {
  const std::vector<const HostStatus*> slow = slow_to_connect(status, now);
  output::StatusText text = describe_counts(status, slow.empty() ? Unready::numbered : Unready::counted);
  for (output::StatusPart& part : attempts(status, slow, now)) text.push_back(std::move(part));
  if (auto part = what_comes_next(status, now)) text.insert(text.begin() + 1, std::move(*part));
  if (auto part = silence(status, now)) text.push_back(std::move(*part));
  if (status.transfer) {
    for (output::StatusPart& part : describe(*status.transfer, bytes_per_second))
      text.push_back(std::move(part));
  }
  if (!text.empty() && status.bytes > 0 && !status.transfer) text.push_back({format_rate(bytes_per_second)});
  return text;
}

std::string interrupt_line(const Status& status, int signal) {
  if (signal == SIGPIPE) return {};
  const std::size_t running = workers_in(status, State::running).size();
  const std::size_t lingering = workers_in(status, State::lingering).size();
  const std::size_t ending = workers_in(status, State::stopping).size();
  const std::string grace = format_duration(status.grace);
  if (signal == SIGQUIT && running > 0) return fmt::format("podrun: sent QUIT to {}", count_hosts(running));
  if (running + lingering > 0)
    return fmt::format("podrun: interrupted {} (Ctrl-C again: TERM, and KILL after {})",
                       count_hosts(running + lingering), grace);
  const std::size_t closing = workers_in(status, State::closing).size();
  if (ending == 0 && closing > 0 && status.presses == 1)
    return fmt::format("podrun: waiting for trailing output of {} (Ctrl-C again: stop what still writes it)",
                       count_hosts(closing));
  if (ending == 0) return {};
  return fmt::format("podrun: stopping {}: TERM, and KILL after {} (Ctrl-C {}: exit at once)",
                     count_hosts(ending), grace, status.presses < 2 ? "twice" : "again");
}

std::string leave_line(const Status& status, TimePoint now) {
  std::vector<std::size_t> running = workers_in(status, State::running);
  const std::vector<std::size_t> lingering = workers_in(status, State::lingering);
  running.insert(running.end(), lingering.begin(), lingering.end());
  if (!running.empty())
    return fmt::format("podrun: exited; these hosts stop the command themselves: {}", short_workers(running));
  const std::vector<std::size_t> ending = workers_in(status, State::stopping);
  if (ending.empty()) return "podrun: exited before all output had arrived";
  return fmt::format("podrun: exited; these hosts are still stopping the command: {} ({})",
                     short_workers(ending), describe_kill(first_kill(status), now));
}

}  // namespace podrun::report
