// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/transfer_words.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/bytes_text.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_set.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"

namespace podrun::report {
namespace {

bool gets_something(const HostTransfer& host) {
  return host.sent.files > 0 || host.sent.deleted > 0 || host.has_attributes;
}

/// `3 files (1.2 MB)`; with hosts that differ, the most.
std::string describe_files(const std::vector<const HostTransfer*>& hosts) {
  const auto by_files = [](const HostTransfer* one, const HostTransfer* other) {
    return std::pair(one->sent.files, one->sent.bytes) < std::pair(other->sent.files, other->sent.bytes);
  };
  const auto [least, most] = std::minmax_element(hosts.begin(), hosts.end(), by_files);
  const std::size_t files = (*most)->sent.files;
  return fmt::format("{}{} file{} ({})", (*least)->sent.files == files ? "" : "up to ", files,
                     files == 1 ? "" : "s", format_bytes((*most)->sent.bytes));
}

}  // namespace

std::string describe_transfers(const std::vector<HostTransfer>& hosts, std::size_t ignored, Tense tense,
                               std::string_view separator) {
  std::vector<const HostTransfer*> changed;
  std::size_t deleted = 0;
  std::size_t shared = 0;
  for (const HostTransfer& host : hosts) {
    if (gets_something(host)) changed.push_back(&host);
    deleted = std::max(deleted, host.sent.deleted);
    if (host.sent.shared_with) ++shared;
  }
  std::vector<std::string> parts;
  const std::size_t same = hosts.size() - changed.size();
  if (!changed.empty())
    parts.push_back(fmt::format("{} {} {}", describe_files(changed),
                                tense == Tense::would ? "would go to" : "to", count_hosts(changed.size())));
  if (shared > 0) parts.push_back(fmt::format("{} on a shared file system", count_hosts(shared)));
  if (deleted > 0)
    parts.push_back(fmt::format("{} {}", deleted, tense == Tense::would ? "would be deleted" : "deleted"));
  if (same > 0) parts.push_back(fmt::format("{} {} up to date", count_hosts(same), same == 1 ? "is" : "are"));
  if (ignored > 0)
    parts.push_back(fmt::format("{} path{} ignored (--no-ignore sends {})", ignored, ignored == 1 ? "" : "s",
                                ignored == 1 ? "it" : "them"));
  return join(parts, separator);
}

std::vector<std::string> list_transfers(const std::vector<hosts::Host>& hosts,
                                        const std::vector<PlannedTransfer>& planned) {
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, std::vector<std::size_t>> groups;
  for (const PlannedTransfer& each : planned) groups[{each.sent, each.deleted}].push_back(each.host);
  std::vector<std::string> lines;
  for (const auto& [paths, members] : groups) {
    const auto& [sent, deleted] = paths;
    if (sent.empty() && deleted.empty()) continue;
    lines.push_back(fmt::format("{}:", output::name_hosts(hosts, members)));
    for (const std::string& path : sent) lines.push_back("  send " + output::escape_controls(path));
    for (const std::string& path : deleted) lines.push_back("  delete " + output::escape_controls(path));
  }
  return lines;
}

}  // namespace podrun::report
