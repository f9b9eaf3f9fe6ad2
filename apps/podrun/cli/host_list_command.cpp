// SPDX-License-Identifier: Apache-2.0
// Runs the user's command that lists the hosts, and keeps its output for the next runs.
#include "cli/host_list_command.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/duration.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/whole_file.hpp"
#include "podrun/local/shell_command.hpp"

namespace podrun::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLimit{60};
constexpr std::size_t kMost = 16 * 1024 * 1024;  ///< bytes of output: gcloud describes 2,000 hosts in 1 MB

/// Empty: there is no directory for it. The file begins with the command, since two may share the number.
std::string cache_file(const std::string& command) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if ((!cache || cache[0] != '/') && !home) return {};
  const std::string base = cache && cache[0] == '/' ? cache : fmt::format("{}/.cache", home);
  std::uint64_t number = 14695981039346656037U;  // FNV-1a
  for (const char c : command) number = (number ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{}/podrun/hosts.{:016x}", base, number);
}

std::optional<std::string> cached(const std::string& file, const std::string& command,
                                  std::chrono::seconds longest) {
  std::error_code error;
  const auto age = fs::file_time_type::clock::now() - fs::last_write_time(file, error);
  if (error || age < std::chrono::seconds(0) || age > longest) return std::nullopt;
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const std::optional<std::string> text = read_whole(descriptor.get(), kMost + command.size() + 1);
  const std::string head = command + '\0';
  if (!text || !text->starts_with(head)) return std::nullopt;
  return text->substr(head.size());
}

/// Writes the cache file, for the user alone. On failure there is none, and the next run asks the command
/// again.
void keep(const std::string& file, const std::string& command, const std::string& output) {
  std::error_code ignored;
  fs::create_directories(fs::path(file).parent_path(), ignored);
  // replace_file() keeps the mode.
  const Descriptor descriptor(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (descriptor.is_open()) replace_file(file, command + '\0' + output);
}

std::string run(const std::string& command) {
  const local::CommandOutput ended = local::read_shell_command("/bin/sh", command, kLimit, kMost);
  const std::string_view said = trim_space(last_line(ended.error));
  const auto fail = [&](const std::string& what) {
    throw UsageError(
        fmt::format("--hosts-command: {}{}{} ({})", what, said.empty() ? "" : ": ", said, command));
  };
  if (ended.fate == local::CommandOutput::Fate::timed_out) fail("no end after " + format_duration(kLimit));
  if (ended.fate == local::CommandOutput::Fate::too_long) fail("its output does not end");
  if (!ended.status) fail("it did not end by itself");
  if (*ended.status != 0) fail(fmt::format("exit {}", *ended.status));
  return ended.output;
}

}  // namespace

std::string read_hosts_command(const std::string& command, std::optional<std::chrono::seconds> cache) {
  const std::string file = cache ? cache_file(command) : "";
  if (!file.empty()) {
    if (auto known = cached(file, command, *cache)) return *std::move(known);
  }
  std::string output = run(command);
  if (!file.empty()) keep(file, command, output);
  return output;
}

}  // namespace podrun::cli
