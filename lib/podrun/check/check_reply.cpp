// SPDX-License-Identifier: Apache-2.0
// Reads what check.sh prints. Hosts may send anything: unknown or broken lines are ignored, and everything
// has a limit.
#include "podrun/check/check_reply.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/devices/accelerators.hpp"
#include "podrun/supervisor/memory_limit.hpp"

namespace podrun::check {
namespace {

constexpr std::size_t kMaxValue = 256;  ///< bytes
constexpr std::size_t kMaxList = 256;   ///< entries: more devices and processes tell no more
constexpr std::uint64_t kKib = 1024;

constexpr std::array<std::string_view, 16> kValues = {
    "kernel",       "open_files", "processes", "locked_memory", "python", "python_path",
    "python_error", "jax",        "jaxlib",    "libtpu",        "torch",  "commit",
    "branch",       "changes",    "git_error", "gpu_error"};

/// Kibibytes, as bytes.
std::optional<std::uint64_t> parse_kib(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number > UINT64_MAX / kKib) return std::nullopt;
  return *number * kKib;
}

void append(std::vector<std::string>& list, std::string_view text) {
  if (list.size() < kMaxList) list.emplace_back(text.substr(0, kMaxValue));
}

/// `SECONDS.NANOSECONDS`; a date(1) without %N prints something else after the dot.
void parse_clock(HostFacts& facts, std::string_view text) {
  constexpr std::size_t kMost = 100'000'000'000;  // seconds, the year 5138
  const std::optional<std::size_t> seconds = to_number(take_part(text, '.'));
  if (!seconds || *seconds > kMost) return;
  const std::optional<std::size_t> nanoseconds = text.size() == 9 ? to_number(text) : std::nullopt;
  facts.clock_step = nanoseconds ? std::chrono::microseconds(1) : std::chrono::seconds(1);
  facts.clock = std::chrono::seconds(*seconds) + std::chrono::microseconds(nanoseconds.value_or(0) / 1000);
}

/// `NAME SIZE USED AVAILABLE CAPACITY% MOUNT`, where names may have blanks. df(1), POSIX
std::optional<DiskSpace> parse_disk(std::string_view line) {
  for (std::size_t at = 0; (at = line.find("% ", at)) != line.npos; ++at) {
    std::array<std::string_view, 4> numbers;  // from the last one
    std::string_view before = line.substr(0, at);
    for (std::string_view& number : numbers) {
      const std::size_t blank = before.find_last_of(' ');
      number = before.substr(blank == before.npos ? 0 : blank + 1);
      before = before.substr(0, blank == before.npos ? 0 : before.find_last_not_of(' ', blank) + 1);
    }
    const auto& [capacity, available, used, size] = numbers;
    const auto bytes = parse_kib(size);
    // Root may have written more than there is for us.
    const auto left = available.starts_with('-') ? 0 : parse_kib(available);
    if (before.empty() || !bytes || !left || !parse_kib(used) || !parse_kib(capacity)) continue;
    return DiskSpace{{}, std::string(line.substr(at + 2).substr(0, kMaxValue)), *bytes, *left};
  }
  return std::nullopt;
}

void parse_held(HostFacts& facts, std::string_view text) {
  if (facts.holders.size() >= kMaxList || text.size() > kMaxValue) return;
  HeldDevice holder;
  holder.kind = take_part(text, ' ');
  holder.device = take_part(text, ' ');
  holder.pid = take_part(text, ' ');
  holder.user = take_part(text, ' ');
  holder.command = text;
  if (to_number(holder.pid).value_or(UINT64_MAX) <= UINT32_MAX) facts.holders.push_back(std::move(holder));
}

/// `PID NAME`, after the line of the process. Messages suggest a command with the name.
void parse_job(HostFacts& facts, std::string_view text) {
  const std::string_view pid = take_part(text, ' ');
  if (!is_job_name(text)) return;
  for (HeldDevice& holder : facts.holders) {
    if (holder.pid == pid) holder.job = text;
  }
}

/// Adds the value to the list that the key names. False if it names none.
bool parse_list(HostFacts& facts, std::string_view key, std::string_view value) {
  const std::pair<std::string_view, std::vector<std::string>*> lists[] = {
      {"pci", &facts.pci}, {"hangs", &facts.hangs}, {"read_only", &facts.read_only}};
  for (const auto& [name, list] : lists) {
    if (name != key) continue;
    append(*list, value);
    return true;
  }
  return false;
}

/// `NAME, DRIVER`, or what nvidia-smi says in place of it. (A Jetson has no version.)
void parse_gpu(HostFacts& facts, std::string_view line) {
  line = trim_space(line);
  const std::size_t comma = std::min(line.rfind(", "), line.size());
  const std::string_view name = trim_space(line.substr(0, comma));
  const std::string_view version = comma < line.size() ? line.substr(comma + 2) : "";
  const bool has_number = !version.empty() && version.find_first_not_of("0123456789.") == version.npos;
  const bool is_unknown = devices::is_unknown_to_nvidia_smi(version);
  if (line.empty()) {
    return;
  } else if (!has_number && !is_unknown && !devices::is_fault_of_gpu(version)) {
    append(facts.gpu_texts, line);
  } else if (name.empty() || name.starts_with('[') || devices::is_fault_of_gpu(name)) {
    append(facts.gpu_faults, name.empty() ? line : name);
  } else if (!has_number && !is_unknown) {
    append(facts.gpu_faults, version);
  } else {
    append(facts.gpus, line);
  }
}

void parse_line(HostFacts& facts, std::string_view line) {
  const std::string_view key = take_part(line, ' ');
  constexpr std::string_view kDisk = "disk_";
  if (key == "end") {
    facts.complete = true;
  } else if (key == "at") {
    facts.looking_at = line.substr(0, kMaxValue);
  } else if (key == "clock") {
    parse_clock(facts, line);
  } else if (key == "memory_total") {
    facts.memory_total = parse_kib(line);
  } else if (key == "memory_available") {
    facts.memory_available = parse_kib(line);
  } else if (key == "memory_limit") {
    supervisor::limit_memory(line, facts.memory_total, facts.memory_available);
  } else if (key == "sees") {
    facts.sees_all = line == "all";
  } else if (key == "device") {
    const std::string_view kind = take_part(line, ' ').substr(0, kMaxValue);
    if (facts.devices.size() < kMaxList)
      facts.devices.push_back({std::string(kind), std::string(line.substr(0, kMaxValue))});
  } else if (key == "held") {
    parse_held(facts, line);
  } else if (key == "gpu") {
    parse_gpu(facts, line);
  } else if (key == "gpus_to_see") {
    facts.gpus_to_see = to_number(line);
  } else if (key == "job") {
    parse_job(facts, line);
  } else if (key.starts_with(kDisk) && facts.disks.size() < kMaxList) {
    if (auto disk = parse_disk(line)) {
      disk->role = key.substr(kDisk.size()).substr(0, kMaxValue);
      facts.disks.push_back(std::move(*disk));
    }
  } else if (!parse_list(facts, key, line) && !line.empty()) {
    const std::string_view name = key == "libtpu-nightly" ? "libtpu" : key;
    if (std::find(kValues.begin(), kValues.end(), name) != kValues.end())
      facts.values.insert_or_assign(std::string(name), std::string(line.substr(0, kMaxValue)));
  }
}

}  // namespace

const std::string& HostFacts::value(std::string_view name) const {
  static const std::string none;
  const auto found = values.find(name);
  return found == values.end() ? none : found->second;
}

std::size_t HostFacts::count_devices(std::string_view kind) const {
  return static_cast<std::size_t>(std::ranges::count(devices, kind, &Device::kind));
}

HostFacts parse_check_reply(std::string_view output, std::string_view nonce) {
  HostFacts facts;
  const std::string begin = fmt::format("podrun-check {}", nonce);
  while (!output.empty() && !facts.complete) {
    const std::string_view line = take_part(output, '\n');
    if (facts.answered) {
      parse_line(facts, line);
    } else {
      facts.answered = line == begin;
    }
  }
  return facts;
}

}  // namespace podrun::check
