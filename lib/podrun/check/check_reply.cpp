// SPDX-License-Identifier: Apache-2.0
#include "podrun/check/check_reply.hpp"

#include <algorithm>
#include <array>

#include "podrun/base/answer.hpp"
#include "podrun/base/text.hpp"
#include "podrun/devices/accelerators.hpp"
#include "podrun/supervisor/memory_limit.hpp"

namespace podrun::check {
namespace {

constexpr std::uint64_t kKib = 1024;

/// Kibibytes, as bytes.
std::optional<std::uint64_t> parse_kib(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number > UINT64_MAX / kKib) return std::nullopt;
  return *number * kKib;
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
    return DiskSpace{{}, std::string(line.substr(at + 2)), *bytes, *left};
  }
  return std::nullopt;
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
    facts.gpu_texts.emplace_back(line);
  } else if (name.empty() || name.starts_with('[') || devices::is_fault_of_gpu(name)) {
    facts.gpu_faults.emplace_back(name.empty() ? line : name);
  } else if (!has_number && !is_unknown) {
    facts.gpu_faults.emplace_back(version);
  } else {
    facts.gpus.emplace_back(line);
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
  HostFacts facts{read_answer<CheckAnswer>(output, nonce)};
  parse_clock(facts, facts.time);
  for (const std::string& limit : facts.memory_limits)
    supervisor::limit_memory(limit, facts.memory_total, facts.memory_available);
  for (const CheckAnswer::Disk& said : facts.df_lines) {
    if (auto disk = parse_disk(said.line)) {
      disk->role = said.role;
      facts.disks.push_back(std::move(*disk));
    }
  }
  for (HeldDevice& holder : facts.holders) {
    if (!is_job_name(holder.job)) holder.job.clear();  // messages suggest a command with it
  }
  for (const std::string& line : facts.gpu_lines) parse_gpu(facts, line);
  return facts;
}

}  // namespace podrun::check
