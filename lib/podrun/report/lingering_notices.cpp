// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/lingering_notices.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "podrun/base/worker_set.hpp"
#include "podrun/output/escape.hpp"

namespace podrun::report {
namespace {

constexpr std::chrono::seconds kTogether{1};

/// The process of the host that is likely to have started the others.
const remote::Holder& oldest(const remote::Holders& holders) {
  const auto number = [](const remote::Holder& holder) { return std::pair(holder.pid.size(), holder.pid); };
  return *std::min_element(
      holders.named.begin(), holders.named.end(),
      [&](const remote::Holder& a, const remote::Holder& b) { return number(a) < number(b); });
}

struct Group {
  std::vector<std::size_t> workers;
  std::size_t first = 0;    ///< the smallest label
  remote::Holders holders;  ///< on that host
};

std::string describe(const Group& group) {
  const bool several = is_several(group.holders);
  const remote::Holder& named = oldest(group.holders);
  const std::string who = group.workers.size() == 1
                              ? report::describe(group.holders)
                              : fmt::format("{} (pid {} on [{}]){}", output::escape_controls(named.name),
                                            named.pid, group.first, several ? " and others" : "");
  return fmt::format(
      "podrun: [{}] command ended; {} still {} output open. Ctrl-C stops {}; to leave {} running, "
      "redirect {} output (> log 2>&1)",
      fold_workers(group.workers), who, several ? "have their" : "has its", several ? "them" : "it",
      several ? "them" : "it", several ? "their" : "its");
}

}  // namespace

bool is_several(const remote::Holders& holders) { return holders.named.size() + holders.more > 1; }

std::string describe(const remote::Holders& holders) {
  std::string all;
  for (const remote::Holder& holder : holders.named)
    all += fmt::format("{}{} ({})", all.empty() ? "pid " : ", ", holder.pid,
                       output::escape_controls(holder.name));
  return all + (holders.more > 0 ? fmt::format(" and {} more", holders.more) : "");
}

std::vector<std::string> describe_lingering(const Lingering& hosts) {
  std::map<std::string, Group> groups;  // by the name of a process: pids and passing children differ
  for (const auto& [worker, holders] : hosts) {
    Group& group = groups[oldest(holders).name];
    if (group.workers.empty() || worker < group.first) {
      group.first = worker;
      group.holders = holders;
    }
    group.workers.push_back(worker);
  }
  std::vector<std::string> lines;
  for (const auto& [name, group] : groups) lines.push_back(describe(group));
  return lines;
}

void LingeringNotices::add(std::size_t worker, remote::Holders holders) {
  unsaid_.emplace_back(worker, std::move(holders));
  if (unsaid_.size() > 1) return;
  timer_.expires_after(kTogether);
  timer_.async_wait([this](const std::error_code& error) {
    if (error) return;
    for (std::string& line : describe_lingering(unsaid_)) output_.say(std::move(line));
    unsaid_.clear();
  });
}

void LingeringNotices::remove(std::size_t worker) {
  std::erase_if(unsaid_, [worker](const auto& host) { return host.first == worker; });
}

}  // namespace podrun::report
