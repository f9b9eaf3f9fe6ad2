// SPDX-License-Identifier: Apache-2.0
// Keeps the hosts that failed, or were silent, for the next run. A file has the time and a line for each
// host.
#include "podrun/hosts/remembered.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"

namespace podrun::hosts {
namespace {

std::string_view word_of(Remembered which) { return which == Remembered::failed ? "failed" : "silent"; }

std::string describe(Remembered which) {
  return which == Remembered::failed ? "failed" : "printed nothing or stopped long before the others";
}

std::string file_of(Remembered which) { return fmt::format("{}_hosts", word_of(which)); }

/// `3 tpu-3`
std::optional<Host> parse_host(std::string_view line) {
  const std::optional<std::size_t> worker = to_number(take_part(line, ' '));
  if (!worker || line.empty()) return std::nullopt;
  Host host;
  host.worker = *worker;
  host.name = line;
  return host;
}

void write(Remembered which, const std::vector<Host>& hosts, const Probe& probe) {
  std::string text = fmt::format("{:%Y-%m-%d %H:%M}\n", fmt::localtime(std::time(nullptr)));
  for (const Host& host : hosts) text += fmt::format("{} {}\n", host.worker, host.name);
  remember_state(file_of(which), text, probe);
}

}  // namespace

std::optional<Remembered> remembered_by(std::string_view word) {
  for (const Remembered which : {Remembered::failed, Remembered::silent}) {
    if (word == word_of(which)) return which;
  }
  return std::nullopt;
}

void remember(Remembered which, const std::vector<Host>& hosts, const Probe& probe) {
  if (!hosts.empty()) write(which, hosts, probe);
}

void remember_silent_now(const std::vector<Host>& hosts, const Probe& probe) {
  write(Remembered::silent, hosts, probe);
}

RememberedHosts recall(Remembered which, const std::vector<Host>& hosts, const Probe& probe) {
  check_state(file_of(which), probe);
  const std::string text = recall_state(file_of(which), probe);
  const std::vector<std::string_view> lines = split(text, '\n');
  std::vector<std::size_t> workers;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::optional<Host> then = parse_host(lines[i]);
    if (!then) continue;
    const auto now =
        std::ranges::find_if(hosts, [&](const Host& host) { return host.worker == then->worker; });
    if (now == hosts.end() || now->name != then->name) {
      throw UsageError(fmt::format(
          "--workers {}: worker {} was {} in the run of {}, and is {} here (give the same hosts, or numbers)",
          word_of(which), then->worker, then->name, lines[0],
          now == hosts.end() ? "not among the hosts" : now->name));
    }
    workers.push_back(then->worker);
  }
  if (workers.empty() && which == Remembered::silent && !text.empty()) {
    throw UsageError(fmt::format("--workers {}: no host is silent in the run of {} (give numbers)",
                                 word_of(which), lines[0]));
  }
  if (workers.empty()) {
    throw UsageError(
        fmt::format("--workers {}: no run on these hosts is known in which one {} (give numbers)",
                    word_of(which), describe(which)));
  }
  const std::string folded = fold_workers(std::move(workers));
  return {folded, fmt::format("[{}] {} in the run of {}", folded, describe(which), lines[0])};
}

}  // namespace podrun::hosts
