// SPDX-License-Identifier: Apache-2.0
// The hosts of podrun shell, as the prompt, :workers and :hosts show them.
#include "podrun/shell/shell_hosts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::shell {
namespace {

constexpr std::size_t kLongestPart = 26;  ///< columns

/// `[0-7]`, or `64 hosts` where that would be too long.
std::string name_workers(const std::vector<std::size_t>& workers) {
  std::string text = fmt::format("[{}]", fold_workers(workers));
  return text.size() <= kLongestPart ? text : count_hosts(workers.size());
}

/// `[7] exit 1`, or `3 hosts failed`. Hosts that were not reached stand at another place.
std::string name_failures(const LineEnd& before) {
  std::string text;
  std::size_t failed = 0;
  for (const run::OutcomeGroup& group : run::group_outcomes(before.outcomes)) {
    if (!run::is_failure(group.outcome) || std::holds_alternative<run::Unreachable>(group.outcome)) continue;
    failed += group.hosts.size();
    const std::string what = std::holds_alternative<run::Lost>(group.outcome)
                                 ? std::string(report::words(group.outcome))
                                 : report::describe(group.outcome);
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", output::fold_hosts(before.hosts, group.hosts), what);
  }
  return text.size() <= kLongestPart ? text : count_hosts(failed) + " failed";
}

}  // namespace

std::string name_directory(const std::vector<const KeptState*>& states) {
  std::set<std::string> names;
  for (const KeptState* const state : states) {
    const auto home = state->variables.find("HOME");
    const std::string at_home = home == state->variables.end() ? "" : home->second;
    names.insert(state->directory == at_home ? "~" : short_path(state->directory, at_home));
  }
  if (names.size() > 1) return fmt::format("{} directories", names.size());
  if (names.empty()) return {};
  const std::string name = output::escape_controls(*names.begin());
  if (name.size() <= kLongestPart) return name;
  std::size_t at = name.size() - kLongestPart;
  if (const std::size_t slash = name.find('/', at); slash != name.npos) at = slash;
  while ((static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U) ++at;  // within a character of UTF-8
  return "..." + name.substr(at);
}

std::string make_prompt(const std::vector<std::size_t>& workers, std::string_view directory,
                        const LineEnd& before, const std::vector<std::size_t>& lost,
                        std::string_view separator) {
  std::string text = "podrun " + name_workers(workers);
  if (!directory.empty()) text.append(" ").append(directory);
  const std::string failures = name_failures(before);
  if (!failures.empty()) text.append(separator).append(failures);
  if (!lost.empty()) text.append(separator).append("not connected ").append(name_workers(lost));
  return text + "> ";
}

ShellHosts::ShellHosts(const std::vector<hosts::Host>& hosts) {
  for (const hosts::Host& host : hosts) {
    hosts_.push_back({.host = host});
    selected_.insert(host.worker);
  }
}

std::vector<std::size_t> ShellHosts::active() const {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].is_connected && selected_.contains(hosts_[i].host.worker)) indexes.push_back(i);
  }
  return indexes;
}

std::vector<std::size_t> ShellHosts::not_connected() const {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (!hosts_[i].is_connected) indexes.push_back(i);
  }
  return indexes;
}

std::vector<const KeptState*> ShellHosts::states_of(const std::vector<std::size_t>& indexes) const {
  std::vector<const KeptState*> states;
  for (const std::size_t i : indexes) {
    if (hosts_[i].now) states.push_back(&*hosts_[i].now);
  }
  return states;
}

std::vector<std::size_t> ShellHosts::workers_of(const std::vector<std::size_t>& indexes) const {
  std::vector<std::size_t> workers;
  for (const std::size_t i : indexes) workers.push_back(hosts_[i].host.worker);
  return workers;
}

void ShellHosts::select(const std::string& set) {
  if (set.empty()) throw UsageError("for which hosts? (:workers 0,3-7, :workers all)");
  std::set<std::size_t> known;
  for (const ShellHost& host : hosts_) known.insert(host.host.worker);
  std::set<std::size_t> chosen = known;
  if (set != "all") {
    const std::vector<std::size_t> numbers = parse_workers(set);
    chosen = {numbers.begin(), numbers.end()};
  }
  for (const std::size_t worker : chosen) {
    if (!known.contains(worker))
      throw UsageError(fmt::format("no host has worker number \"{}\" (there are {})", worker,
                                   fold_workers({known.begin(), known.end()})));
  }
  std::swap(selected_, chosen);
  if (!active().empty()) return;
  std::swap(selected_, chosen);
  throw UsageError("none of them is connected (:connect tries again)");
}

std::vector<std::string> ShellHosts::describe() const {
  std::size_t width = 0;
  for (const ShellHost& each : hosts_) width = std::max(width, each.host.name.size());
  std::vector<std::string> lines;
  for (const ShellHost& each : hosts_) {
    std::string what = each.now ? each.now->directory : "?";
    if (!each.is_connected) what = "not connected: " + each.why_not;
    lines.push_back(fmt::format("{:>3} {:{}}  {}{}", each.host.worker,
                                output::escape_controls(each.host.name), width, output::escape_controls(what),
                                selected_.contains(each.host.worker) ? "" : " (not in :workers)"));
  }
  return lines;
}

std::string ShellHosts::prompt(const LineEnd& before, std::string_view separator) const {
  return make_prompt(workers_of(active()), name_directory(states_of(active())), before,
                     workers_of(not_connected()), separator);
}

}  // namespace podrun::shell
