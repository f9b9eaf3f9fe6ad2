// SPDX-License-Identifier: Apache-2.0
// Compares the facts of all hosts one by one: kernel, memory, versions, clocks, disks, accelerators.
#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/check/check_report.hpp"
#include "podrun/devices/accelerators.hpp"

namespace podrun::check {
namespace {

constexpr std::uint64_t kMib = 1ULL << 20;
constexpr std::size_t kShownOfHash = 12;

/// Splits the line of a GPU at its last `, `.
std::pair<std::string, std::string> name_and_driver(const std::string& gpu) {
  const std::size_t comma = gpu.rfind(", ");
  if (comma == std::string::npos) return {gpu, ""};
  return {gpu.substr(0, comma), gpu.substr(comma + 2)};
}

std::string locked_memory(const HostFacts& facts) {
  const std::string& value = facts.value("locked_memory");
  const std::optional<std::size_t> bytes = to_number(value);
  return value.empty() ? "" : "locked memory " + (bytes ? format_size(*bytes) : value);
}

/// `4 TPU v4`, `8 NVIDIA A100-SXM4-40GB`, `8 AMD`, `no accelerator`.
std::string describe_accelerators(const HostFacts& facts) {
  std::vector<std::string_view> kinds;
  for (const Device& device : facts.devices) {
    if (std::ranges::find(kinds, device.kind) == kinds.end()) kinds.push_back(device.kind);
  }
  std::string text;
  for (const std::string_view kind : kinds) {
    const std::size_t count = facts.count_devices(kind);
    const bool are_gpus_listed = kind == devices::kNvidia && !facts.gpus.empty();
    const std::string name = kind == devices::kTpu ? std::string(devices::tpu_name(facts.pci))
                             : are_gpus_listed     ? name_and_driver(facts.gpus.front()).first
                                                   : std::string(kind);
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ", count, name);
    // A GPU that has fallen off the bus is only missing in nvidia-smi.
    if (are_gpus_listed && facts.gpus.size() != count)
      text += fmt::format(" (nvidia-smi: {})", facts.gpus.size());
  }
  return text.empty() ? "no accelerator" : text;
}

std::string driver(const HostFacts& facts) {
  if (facts.gpus.empty()) return "";
  const std::string version = name_and_driver(facts.gpus.front()).second;
  return version.empty() || devices::is_unknown_to_nvidia_smi(version) ? "" : "driver " + version;
}

std::string commit(const HostFacts& facts) {
  const std::string& value = facts.value("commit");
  return value.empty() ? "" : "commit " + value.substr(0, kShownOfHash);
}

/// `3 HASH`
std::string changes(const HostFacts& facts) {
  const std::string& value = facts.value("changes");
  if (value.empty()) return "";
  const std::size_t blank = value.find(' ');
  if (blank == std::string::npos) return "no changes";
  const std::string count = value.substr(0, blank);
  return fmt::format("{} file{} changed ({})", count, count == "1" ? "" : "s",
                     value.substr(blank + 1, kShownOfHash));
}

enum Topic : std::size_t { kMachine, kAccelerators, kLimits, kVersions, kGit };

struct ItemKind {
  const char* name;
  Topic topic;
  std::function<std::string(const HostFacts&)> text;  ///< its result is empty: the host has none
};

std::string describe_none(const ItemKind& kind) {
  const bool has_to_be = kind.topic == kMachine || kind.topic == kLimits;
  return fmt::format(fmt::runtime(has_to_be ? "{} not known" : "no {}"), kind.name);
}

/// True if a problem says why the host has none.
bool is_explained(const ItemKind& kind, const HostFacts& facts) {
  if (kind.topic == kGit) return !facts.value("git_error").empty();
  return facts.count_devices(devices::kNvidia) > 0 && facts.gpus_to_see && facts.gpus.empty() &&
         kind.name == std::string_view("driver");
}

const std::vector<ItemKind>& item_kinds() {
  static const auto plain = [](const char* name, const char* shown = nullptr) {
    return [name, shown](const HostFacts& facts) {
      const std::string& value = facts.value(name);
      return value.empty() ? "" : fmt::format("{} {}", shown ? shown : name, value);
    };
  };
  static const std::vector<ItemKind> kinds = {
      {"kernel", kMachine, plain("kernel")},
      {"accelerators", kAccelerators, describe_accelerators},
      {"driver", kAccelerators, driver},
      {"open files", kLimits, plain("open_files", "open files")},  // as people read it
      {"processes", kLimits, plain("processes")},
      {"locked memory", kLimits, locked_memory},
      {"python", kVersions, plain("python")},
      {"jax", kVersions, plain("jax")},
      {"jaxlib", kVersions, plain("jaxlib")},
      {"libtpu", kVersions, plain("libtpu")},
      {"torch", kVersions, plain("torch")},
      {"commit", kGit, commit},
      {"branch", kGit, plain("branch")},
      {"changes", kGit, changes},
  };
  return kinds;
}

void add(CheckItem& item, std::string text, std::size_t host) {
  auto group = std::ranges::find(item.groups, text, &CheckGroup::text);
  if (group == item.groups.end()) group = item.groups.insert(item.groups.end(), {std::move(text), {}});
  group->hosts.push_back(host);
}

void put_largest_first(CheckItem& item) {
  std::stable_sort(item.groups.begin(), item.groups.end(),
                   [](const CheckGroup& a, const CheckGroup& b) { return a.hosts.size() > b.hosts.size(); });
}

/// Machines of one type differ by a few MiB: sizes within a twentieth count as equal.
CheckItem compare_memory(const std::vector<CheckedHost>& hosts) {
  CheckItem item{.name = "memory", .topic = kMachine};
  std::multimap<std::uint64_t, std::size_t, std::greater<>> by_size;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const HostFacts& facts = hosts[host].facts;
    if (facts.is_complete && facts.memory_total) by_size.emplace(*facts.memory_total, host);
  }
  std::uint64_t largest = 0;
  for (const auto& [size, host] : by_size) {
    if (size < largest / 20 * 19 || item.groups.empty()) {
      largest = size;
      item.groups.push_back({"memory " + format_size(size), {}});
    }
    item.groups.back().hosts.push_back(host);
  }
  for (CheckGroup& group : item.groups) std::sort(group.hosts.begin(), group.hosts.end());
  put_largest_first(item);
  return item;
}

}  // namespace

std::vector<CheckItem> compare_items(const std::vector<CheckedHost>& hosts) {
  std::vector<CheckItem> items;
  for (const ItemKind& kind : item_kinds()) {
    CheckItem item{.name = kind.name, .topic = kind.topic};
    bool any = false;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      const HostFacts& facts = hosts[host].facts;
      if (!facts.is_complete || is_explained(kind, facts)) continue;
      std::string text = kind.text(facts);
      any = any || !text.empty();
      add(item, text.empty() ? describe_none(kind) : std::move(text), host);
    }
    put_largest_first(item);
    if (any) items.push_back(std::move(item));
  }
  CheckItem memory = compare_memory(hosts);
  if (!memory.groups.empty()) items.insert(items.begin() + (items.empty() ? 0 : 1), std::move(memory));
  return items;
}

std::string format_size_like(std::uint64_t bytes, std::uint64_t other) {
  const double value = static_cast<double>(bytes) / static_cast<double>(other < kGib ? kMib : kGib);
  return fmt::format("{:.{}f}", value, value < 9.95 && other >= kGib ? 1 : 0);
}

std::string format_size(std::uint64_t bytes) {
  return fmt::format("{} {}", format_size_like(bytes, bytes), bytes < kGib ? "MiB" : "GiB");
}

}  // namespace podrun::check
