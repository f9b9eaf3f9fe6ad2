// SPDX-License-Identifier: Apache-2.0
// The words of a push: what went, or would go, to which hosts.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/transfer/push.hpp"

namespace podrun::transfer {
namespace {

bool gets_something(const HostTransfer& host) {
  return host.sent.files > 0 || host.sent.deleted > 0 || host.sent.links_replaced > 0 || host.has_attributes;
}

/// `3 files (1.2 MB)`; if hosts differ, the largest number.
std::string describe_files(const std::vector<const HostTransfer*>& hosts) {
  const auto size = [](const HostTransfer* host) { return std::pair(host->sent.files, host->sent.bytes); };
  const auto [least, most] = std::ranges::minmax_element(hosts, {}, size);
  const std::size_t files = (*most)->sent.files;
  return fmt::format("{}{} file{} ({})", (*least)->sent.files == files ? "" : "up to ", files,
                     files == 1 ? "" : "s", format_bytes((*most)->sent.bytes));
}

/// `2 links replaced by directories (podrun push --keep-dir-links keeps links to directories)`
std::string describe_replaced(std::size_t links, Tense tense) {
  return fmt::format("{} {}replaced by {} (podrun push --keep-dir-links keeps links to directories)",
                     links == 1 ? "1 link" : fmt::format("{} links", links),
                     tense == Tense::would ? "would be " : "", links == 1 ? "a directory" : "directories");
}

/// `63 from each other, 3 from here ([7] cannot hand on: no python3 there; [9,12] held up others)`; empty
/// if hosts do not hand on. `here`: `from here`
std::string describe_spread(const std::vector<HostTransfer>& hosts, std::string_view here) {
  std::size_t from_others = 0;
  std::size_t from_here = 0;
  std::map<std::string, std::vector<std::size_t>> reasons;
  for (const HostTransfer& host : hosts) {
    if (host.sent.from) ++from_others;
    if (host.sent.from_here.empty()) continue;
    ++from_here;
    reasons[host.sent.from_here].push_back(host.worker);
  }
  std::vector<std::string> texts;
  for (auto& [reason, workers] : reasons)
    texts.push_back(fmt::format("[{}] {}", fold_workers(std::move(workers)), reason));
  std::vector<std::string> parts;
  if (from_others > 0) parts.push_back(fmt::format("{} from each other", from_others));
  if (from_here > 0) parts.push_back(fmt::format("{} {} ({})", from_here, here, join(texts, "; ")));
  return join(parts, ", ");
}

}  // namespace

std::string describe_transfers(const std::vector<HostTransfer>& hosts, std::size_t ignored, Tense tense,
                               std::string_view separator, std::string_view here) {
  std::vector<const HostTransfer*> changed;
  std::size_t deleted = 0;
  std::size_t replaced = 0;
  std::size_t shared = 0;
  for (const HostTransfer& host : hosts) {
    if (gets_something(host)) changed.push_back(&host);
    deleted = std::max(deleted, host.sent.deleted);
    replaced = std::max(replaced, host.sent.links_replaced);
    if (host.sent.shared_with) ++shared;
  }
  std::vector<std::string> parts;
  const std::size_t same = hosts.size() - changed.size();
  if (!changed.empty())
    parts.push_back(fmt::format("{} {} {}", describe_files(changed),
                                tense == Tense::would ? "would go to" : "to", count_hosts(changed.size())));
  if (std::string spread = describe_spread(hosts, here); !spread.empty()) parts.push_back(std::move(spread));
  if (shared > 0) parts.push_back(fmt::format("{} on a shared file system", count_hosts(shared)));
  if (deleted > 0)
    parts.push_back(fmt::format("{} {}", deleted, tense == Tense::would ? "would be deleted" : "deleted"));
  if (replaced > 0) parts.push_back(describe_replaced(replaced, tense));
  if (same > 0) parts.push_back(fmt::format("{} {} up to date", count_hosts(same), same == 1 ? "is" : "are"));
  if (ignored > 0) parts.push_back(fmt::format("{} path{} ignored", ignored, ignored == 1 ? "" : "s"));
  return join(parts, separator);
}

std::vector<std::string> list_transfers(const std::vector<hosts::Host>& hosts,
                                        const std::vector<PlannedTransfer>& planned) {
  using Paths = std::vector<std::string>;
  std::map<std::tuple<Paths, Paths, Paths>, std::vector<std::size_t>> groups;
  for (const PlannedTransfer& each : planned)
    groups[{each.sent, each.deleted, each.replaced_links}].push_back(each.host);
  std::vector<std::string> lines;
  for (const auto& [paths, members] : groups) {
    const auto& [sent, deleted, replaced_links] = paths;
    if (sent.empty() && deleted.empty()) continue;
    lines.push_back(fmt::format("{}:", output::name_hosts(hosts, members)));
    const auto list = [&lines](std::string_view verb, const Paths& each_path) {
      for (const std::string& path : each_path)
        lines.push_back(fmt::format("  {} {}", verb, output::escape_controls(path)));
    };
    list("replace link", replaced_links);
    list("send", sent);
    list("delete", deleted);
  }
  return lines;
}

}  // namespace podrun::transfer
