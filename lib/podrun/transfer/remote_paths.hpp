// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// Paths that hosts list: how many podrun keeps, which are safe, and which are ignored here.
namespace podrun::transfer {

struct HostOnly;
struct TreeRequest;

/// Limits the paths of one host that podrun keeps: their number, and kBytes for each on average, so that
/// neither many paths nor long ones fill the memory.
class PathBudget {
 public:
  static constexpr std::size_t kUsualPaths = 250'000;
  static constexpr std::size_t kBytes = 280;  ///< of a path: its record, and its name twice

  explicit PathBudget(std::size_t paths) : paths_(paths) {}

  /// Counts a path with a record of this many bytes and a name of this length. Throws HostError if it is too
  /// much.
  void spend(std::size_t record, std::size_t name);

 private:
  std::size_t paths_;
  std::size_t taken_ = 0;
  std::size_t bytes_ = 0;
};

/// The most bytes of a record of a host's list: PATH_MAX of Linux is 4096, and a record has two paths.
inline constexpr std::size_t kMaxRecord = 16 * 1024;
inline constexpr std::uint32_t kModeBits = 07777;

/// Refuses a part of a host's list. Throws HostError.
[[noreturn]] void refuse_listed(std::string_view what);

/// Reads a number of a host's list. Throws HostError.
template <typename Number>
Number listed_number(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) refuse_listed(text);
  return value;
}

/// True if the path is relative, and no part of it is empty, "." or "..".
bool goes_down(std::string_view path);

/// For each of these paths of a host, which are not sent from here: whether it must stay though push deletes,
/// since it is not below the request's first directory or the rules there ignore it. Throws UsageError.
std::vector<bool> ignored_among(const std::vector<HostOnly>& paths, const TreeRequest& request);

}  // namespace podrun::transfer
